import { once } from 'node:events';
import { inEnglish } from '../../../core/contract/index.ts';
import { resolve } from 'node:path';
import { adminKubeconfigFile } from '../../../core/cluster/data-folder/layout.ts';
import { assertPortsFree } from '../../../core/cluster/data-folder/network.ts';
import { endpointsOf } from '../../../core/cluster/config/endpoints.ts';
import { openDataFolder, type SpecWishes } from '../../../core/cluster/data-folder/open.ts';
import { resumeMembership } from '../../../core/cluster/membership/resume.ts';
import { Supervisor } from '../../../core/cluster/supervisor/supervisor.ts';
import type { ClusterState } from '../../../core/cluster/state/cluster-state.ts';
import { controlHandlers } from '../../../core/cluster/control/actions.ts';
import { lateDrills } from '../../../core/cluster/drills/late-drills.ts';
import { controlEndpoint } from '../../../core/cluster/data-folder/control-endpoint.ts';
import { serveControl } from '../../../core/cluster/control/server.ts';
import {
  configWarnings,
  defaultSpec,
  runtimeEndpointsOf,
  type ClusterSpec,
} from '../../../core/cluster/config/config.ts';
import { NETWORK_MAX } from '../../../core/cluster/config/addresses.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import type { Disposable } from '../../../core/base/disposable.ts';
import type { Log } from '../../../core/base/log.ts';
import { jsonLog } from '../../../core/base/node/log.ts';
import { builtHost, hostLauncherHere } from './built-host.ts';
import type { ServedConsole } from './served-console.ts';
import { EXIT_OK, parseOptions, usageError, type Command, type CommandContext } from '../command.ts';

const USAGE = `  pilothouse up [--data DIR] [--topology stacked|external] [--control-planes 3] [--etcd-members 3]
                [--workers 2] [--kubernetes-version v1.N.P] [--runtime simulated|cri]
                [--container-runtime-endpoint unix:///run/containerd/containerd.sock] [--network N]
                [--advertise-address ADDRESS|none]
                [--external-etcd URL,URL --etcd-cafile F --etcd-certfile F --etcd-keyfile F]
                [--drills] [--serve [--port N]] [-o json]

  Runs the cluster in the data directory in the foreground and creates it if it does not exist. Except for --workers and
  --advertise-address, the flags only apply to a new cluster. SIGTERM stops it gracefully; the next up resumes it.
  --runtime cri  run real containers (root, Linux), through the socket of containerd or CRI-O
  --network N  hosts use 127.N.0.0/16 and pods the following network (default: a free network)
  --advertise-address A  let other machines reach the API at A:6443, and join; without it nothing listens beyond
               loopback. It stays set until it is none
  --drills     a new scratch cluster for drills (pilothouse drill), which break it
  --serve      also serve the console to a browser; --port N sets the port on 127.0.0.1`;

const OPTIONS = {
  topology: { type: 'string' },
  'control-planes': { type: 'string' },
  'etcd-members': { type: 'string' },
  workers: { type: 'string' },
  network: { type: 'string' },
  'advertise-address': { type: 'string' },
  'kubernetes-version': { type: 'string' },
  runtime: { type: 'string' },
  'container-runtime-endpoint': { type: 'string' },
  'external-etcd': { type: 'string' },
  'etcd-cafile': { type: 'string' },
  'etcd-certfile': { type: 'string' },
  'etcd-keyfile': { type: 'string' },
  drills: { type: 'boolean' },
  serve: { type: 'boolean' },
  port: { type: 'string' },
} as const;

type Switch = 'serve' | 'drills';
type Values = Partial<Record<Exclude<keyof typeof OPTIONS, Switch>, string>> & {
  readonly [S in Switch]?: boolean;
};

const count = (name: Exclude<keyof Values, Switch>, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text)) throw usageError(`--${name} must be a number, not "${text}"`);
  return Number(text);
};

const choice = <const T extends string>(
  name: Exclude<keyof Values, Switch>,
  text: string | undefined,
  choices: readonly T[],
): T | undefined => {
  const found = choices.find((one) => one === text);
  if (text !== undefined && found === undefined)
    throw usageError(`--${name} must be ${choices.join(' or ')}, not "${text}"`);
  return found;
};

const externalEtcd = (values: Values, cwd: string): SpecWishes['externalEtcd'] => {
  const urls = values['external-etcd'];
  const files = [values['etcd-cafile'], values['etcd-certfile'], values['etcd-keyfile']];
  if (urls === undefined && files.every((file) => file === undefined)) return undefined;
  if (urls === undefined || files.some((file) => file === undefined))
    throw usageError('--external-etcd requires --etcd-cafile, --etcd-certfile and --etcd-keyfile');
  const [caFile, certFile, keyFile] = files.map((file) => resolve(cwd, file!)) as [string, string, string];
  return { endpoints: urls.split(',').map((url) => url.trim()), caFile, certFile, keyFile };
};

const wishesOf = (values: Values, cwd: string): SpecWishes => {
  const external = externalEtcd(values, cwd);
  const topology = choice('topology', values.topology, ['stacked', 'external']) ?? (external && 'external');
  const wishes = {
    topology,
    controlPlanes: count('control-planes', values['control-planes']),
    etcdMembers: count('etcd-members', values['etcd-members']),
    workers: count('workers', values.workers),
    network: count('network', values.network),
    advertiseAddress: values['advertise-address'],
    kubernetesVersion: values['kubernetes-version'],
    runtime: choice('runtime', values.runtime, ['simulated', 'cri']),
    containerRuntimeEndpoints: values['container-runtime-endpoint']?.split(','),
    externalEtcd: external,
    purpose: values.drills === true ? ('drills' as const) : undefined,
  };
  return Object.fromEntries(Object.entries(wishes).filter(([, wish]) => wish !== undefined)) as SpecWishes;
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** One line for each component when it becomes ready, and for each that ends unasked. */
const narrator = (print: (line: string) => void, note: (line: string) => void) => {
  const told = new Map<string, string>();
  return ({ hosts, phase }: ClusterState): void => {
    for (const { name: host, components, phase: hostPhase, message: hostMessage, isEndWanted } of hosts) {
      const hostKey = `${hostPhase}`;
      // While it starts, the start itself says what keeps it from its end.
      const isNoted = phase !== 'starting' && phase !== 'stopping';
      if (told.get(host) !== hostKey && isNoted) {
        told.set(host, hostKey);
        if (hostPhase === 'killed' || hostPhase === 'failed')
          note(
            `${host} ${hostPhase}: ${hostMessage ?? ''}${isEndWanted ? `; start it with pilothouse host start ${host}` : ''}`,
          );
      }
      for (const { name, phase: is, changedMs, message, restarts, version } of components) {
        const key = `${host}/${name}`;
        const now = `${is} ${restarts}`;
        if (told.get(key) === now) continue;
        told.set(key, now);
        if (is === 'ready')
          print(`${host.padEnd(8)} ${name.padEnd(26)} ${version.padEnd(9)} ready ${seconds(changedMs)}`);
        if (is === 'exited' && message !== undefined && hostPhase === 'running' && phase !== 'starting')
          note(`${host} ${name} exited: ${message.split('\n')[0]}`);
      }
    }
  };
};

/** Loaded where containers are real. */
const assertRuntime = async (spec: ClusterSpec, isPlaced: boolean): Promise<void> => {
  if (spec.runtime !== 'cri') return;
  const { assertContainerRuntime, assertPodRange } =
    await import('../../../core/cluster/host/assert-runtime.ts');
  await assertContainerRuntime(runtimeEndpointsOf(spec));
  if (isPlaced) assertPodRange(spec);
};

const untilAborted = async ({ signal }: CommandContext): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

/** Loaded where it is asked for: without a console a cluster starts sooner. */
const serveConsole = async (
  { port, serve }: Values,
  supervisor: Supervisor,
  log: Log,
): Promise<ServedConsole | undefined> => {
  if (serve !== true) {
    if (port !== undefined) throw usageError('--port requires --serve');
    return undefined;
  }
  const { openServedConsole, parsePort } = await import('./served-console.ts');
  const { folder } = supervisor;
  return openServedConsole({
    dataDirectory: folder.directory,
    port: parsePort(port),
    pages: undefined,
    log,
    adopt: ({ hosted }) => hosted.adopt(folder, supervisor),
  });
};

/** A console watches the members itself. */
const watchForTimeline = async (supervisor: Supervisor, log: Log): Promise<Disposable> => {
  const { watchMembers } = await import('../../../core/cluster/timeline/watch-members.ts');
  return watchMembers(supervisor, { clock: systemClock, log });
};

/** For what is still to be told and to be given back. */
const END_PAUSE_MS = 500;

/** Where even `process.exit` would wait for a thread for ever. Everything of the cluster has ended by then. */
const endAfterwards = ({ note }: CommandContext): void => {
  note(
    'pilothouse: the cluster has stopped, but a thread of this process does not exit; killing the process',
  );
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), END_PAUSE_MS);
};

export const up: Command = {
  usage: USAGE,
  async run(args, context) {
    const { values, dataDirectory, json } = parseOptions(OPTIONS, args, context);
    const wishes = wishesOf(values as Values, context.cwd);
    // Before a cluster is made that could not run.
    if (wishes.runtime === 'cri') await assertRuntime({ ...defaultSpec(NETWORK_MAX), ...wishes }, false);
    const folder = await openDataFolder(dataDirectory, wishes, systemClock);
    try {
      await assertRuntime(folder.config.spec, true);
      if (folder.migratedFrom !== undefined)
        context.note(`pilothouse: the data format was updated; backup: ${folder.migratedFrom}`);
      for (const warning of configWarnings(folder.config)) context.note(`pilothouse: ${warning}`);
      await assertPortsFree(endpointsOf(folder.config), !folder.isNew);
      const program = builtHost();
      const log = jsonLog(process.stderr, { level: 'error' });
      const launch = await hostLauncherHere(program);
      const supervisor = new Supervisor({
        folder,
        program,
        launch,
        clock: systemClock,
        log,
        resumeMembership,
      });
      const print = json ? () => undefined : context.print;
      const telling = supervisor.onChange(narrator(print, context.note));
      const control = await serveControl(
        controlEndpoint(dataDirectory),
        controlHandlers(supervisor, lateDrills(supervisor)),
      );
      let served: ServedConsole | undefined;
      let watching: Disposable | undefined;
      try {
        served = await serveConsole(values as Values, supervisor, log);
        const url = served?.serving.url;
        if (url !== undefined) print(`console ${url}`);
        const asked = untilAborted(context);
        const outcome = await Promise.race([supervisor.start().then(() => 'ready' as const), asked]);
        if (outcome === 'ready') {
          const { readyAfterMs = 0, endpoint, warnings } = supervisor.state();
          for (const warning of warnings) context.note(`pilothouse: ${inEnglish(warning)}`);
          const kubeconfig = adminKubeconfigFile(dataDirectory);
          if (!served) watching = await watchForTimeline(supervisor, log);
          if (json)
            context.print(JSON.stringify({ readyAfterMs, endpoint, kubeconfig, data: dataDirectory, url }));
          else context.print(`ready in ${seconds(readyAfterMs)}  kubeconfig ${kubeconfig}`);
          await asked;
        }
      } finally {
        telling.dispose();
        watching?.dispose();
        try {
          await served?.close();
        } finally {
          await control.close();
          await supervisor.stop();
          if (supervisor.isStuck) endAfterwards(context);
          if (folder.config.spec.runtime === 'cri')
            context.note('pilothouse: containers keep running, and the next up adopts them');
        }
      }
    } finally {
      folder.lock.dispose();
    }
    return EXIT_OK;
  },
};
