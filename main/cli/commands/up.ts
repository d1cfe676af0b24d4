import { once } from 'node:events';
import { resolve } from 'node:path';
import {
  adminKubeconfigFile,
  assertPortsFree,
  endpointsOf,
  forkLauncher,
  openDataFolder,
  Supervisor,
  type ClusterState,
  type SpecWishes,
} from '../../../core/cluster/index.ts';
import { controlHandlers } from '../../../core/cluster/control/actions.ts';
import { controlEndpoint } from '../../../core/cluster/control/endpoint.ts';
import { serveControl } from '../../../core/cluster/control/server.ts';
import { configWarnings } from '../../../core/cluster/config/config.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { jsonLog } from '../../../core/base/node/log.ts';
import { EXIT_OK, parseOptions, usageError, type Command, type CommandContext } from '../command.ts';

const USAGE = `  pilothouse up [--data DIR] [--topology stacked|external] [--control-planes 3] [--etcd-members 3]
                [--workers 2] [--kubernetes-version v1.N.P] [--runtime simulated|cri] [--network N]
                [--external-etcd URL,URL --etcd-cafile F --etcd-certfile F --etcd-keyfile F] [-o json]

  Runs the cluster of the data folder in the foreground, and makes it when there is none. Flags other than
  --workers say how a new one is made. SIGTERM stops it in order; the next up resumes it.
  --network N  hosts get 127.N.0.0/16 and pods the network after it; without it a free one is taken`;

const OPTIONS = {
  topology: { type: 'string' },
  'control-planes': { type: 'string' },
  'etcd-members': { type: 'string' },
  workers: { type: 'string' },
  network: { type: 'string' },
  'kubernetes-version': { type: 'string' },
  runtime: { type: 'string' },
  'external-etcd': { type: 'string' },
  'etcd-cafile': { type: 'string' },
  'etcd-certfile': { type: 'string' },
  'etcd-keyfile': { type: 'string' },
} as const;

type Values = Partial<Record<keyof typeof OPTIONS, string>>;

const count = (name: keyof Values, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text)) throw usageError(`--${name} takes a number, not "${text}"`);
  return Number(text);
};

const choice = <const T extends string>(
  name: keyof Values,
  text: string | undefined,
  choices: readonly T[],
): T | undefined => {
  const found = choices.find((one) => one === text);
  if (text !== undefined && found === undefined)
    throw usageError(`--${name} takes ${choices.join(' or ')}, not "${text}"`);
  return found;
};

const externalEtcd = (values: Values, cwd: string): SpecWishes['externalEtcd'] => {
  const urls = values['external-etcd'];
  const files = [values['etcd-cafile'], values['etcd-certfile'], values['etcd-keyfile']];
  if (urls === undefined && files.every((file) => file === undefined)) return undefined;
  if (urls === undefined || files.some((file) => file === undefined))
    throw usageError('--external-etcd goes with --etcd-cafile, --etcd-certfile and --etcd-keyfile');
  const [caFile, certFile, keyFile] = files.map((file) => resolve(cwd, file!)) as [string, string, string];
  return { endpoints: urls.split(',').map((url) => url.trim()), caFile, certFile, keyFile };
};

const wishesOf = (values: Values, cwd: string): SpecWishes => {
  const external = externalEtcd(values, cwd);
  const controlPlanes = count('control-planes', values['control-planes']);
  const wishes = {
    topology: choice('topology', values.topology, ['stacked', 'external']) ?? (external && 'external'),
    controlPlanes,
    etcdMembers: count('etcd-members', values['etcd-members']),
    workers: count('workers', values.workers),
    network: count('network', values.network),
    kubernetesVersion: values['kubernetes-version'],
    runtime: choice('runtime', values.runtime, ['simulated', 'cri']),
    externalEtcd: external,
  };
  return Object.fromEntries(Object.entries(wishes).filter(([, wish]) => wish !== undefined)) as SpecWishes;
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** One line for each component when it becomes ready, and for each that ends unasked. */
const narrator = (print: (line: string) => void, note: (line: string) => void) => {
  const told = new Map<string, string>();
  return ({ hosts, phase }: ClusterState): void => {
    for (const { name: host, components, phase: hostPhase, message: hostMessage } of hosts) {
      const hostKey = `${hostPhase}`;
      if (told.get(host) !== hostKey && phase !== 'stopping') {
        told.set(host, hostKey);
        if (hostPhase === 'killed' || hostPhase === 'failed')
          note(`${host} ${hostPhase}: ${hostMessage ?? ''}; pilothouse host start ${host} brings it back`);
      }
      for (const { name, phase: is, changedMs, message, restarts, version } of components) {
        const key = `${host}/${name}`;
        const now = `${is} ${restarts}`;
        if (told.get(key) === now) continue;
        told.set(key, now);
        if (is === 'ready')
          print(`${host.padEnd(8)} ${name.padEnd(26)} ${version.padEnd(9)} ready ${seconds(changedMs)}`);
        if (is === 'exited' && message !== undefined && hostPhase === 'running')
          note(`${host} ${name} ended: ${message.split('\n')[0]}`);
      }
    }
  };
};

/** Beside the built command line: dist/cli/cli.js (or a chunk of it) and dist/host/host.js. */
const builtHost = (): URL => new URL('../host/host.js', import.meta.url);

const untilAborted = async ({ signal }: CommandContext): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

export const up: Command = {
  usage: USAGE,
  async run(args, context) {
    const { values, dataDirectory, json } = parseOptions(OPTIONS, args, context);
    const folder = await openDataFolder(dataDirectory, wishesOf(values as Values, context.cwd), systemClock);
    try {
      for (const warning of configWarnings(folder.config)) context.note(`pilothouse: ${warning}`);
      await assertPortsFree(endpointsOf(folder.config));
      const program = builtHost();
      const supervisor = new Supervisor({
        folder,
        program,
        launch: forkLauncher(program),
        clock: systemClock,
        log: jsonLog(process.stderr, { level: 'error' }),
      });
      const print = json ? () => undefined : context.print;
      const telling = supervisor.onChange(narrator(print, context.note));
      const control = await serveControl(controlEndpoint(dataDirectory), controlHandlers(supervisor));
      try {
        const asked = untilAborted(context);
        const outcome = await Promise.race([supervisor.start().then(() => 'ready' as const), asked]);
        if (outcome === 'ready') {
          const { readyAfterMs = 0, endpoint, warnings } = supervisor.state();
          for (const warning of warnings) context.note(`pilothouse: ${warning}`);
          const kubeconfig = adminKubeconfigFile(dataDirectory);
          if (json)
            context.print(JSON.stringify({ readyAfterMs, endpoint, kubeconfig, data: dataDirectory }));
          else context.print(`ready in ${seconds(readyAfterMs)}  kubeconfig ${kubeconfig}`);
          await asked;
        }
      } finally {
        telling.dispose();
        await control.close();
        await supervisor.stop();
      }
    } finally {
      folder.lock.dispose();
    }
    return EXIT_OK;
  },
};
