import { createHash } from 'node:crypto';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { V1Container, V1Pod, V1Probe } from '../../../api/schema/index.ts';
import {
  NOTHING_HELD,
  RuntimeError,
  type ContainerExit,
  type ContainerRequest,
  type ContainerUsage,
  type ImageInfo,
  type PullRequest,
  type RunningContainer,
  type Runtime,
  type Sandbox,
  type SandboxRequest,
} from '../runtime.ts';
import { hostsFile, podNames } from '../../dns/hosts-file.ts';
import { resolvConf } from '../../dns/pod-dns.ts';
import { subPathOf } from '../../volumes/sub-path-name.ts';
import { topMode } from '../../volumes/ownership.ts';
import { MemoryLog } from '../memory-log.ts';
import { mustNotBeRoot } from '../non-root.ts';
import { groupsOf } from '../pod-groups.ts';
import { MESSAGE_PATH_DEFAULT } from '../termination-message.ts';
import { behaviourOf, type Behaviour } from './behaviour.ts';
import type { ContentClient, ContentContainer } from './content/content-client.ts';
import type { CommandStart, ContainerFacts, MountedVolume, OpenedPorts } from './content/messages.ts';
import { ImageStore, resolveImage } from './images.ts';
import type { PodAddresses } from './pod-addresses.ts';
import { commandLine, programOf } from './program.ts';
import { IMPLIED_READY, SimulatedContainer } from './simulated-container.ts';
import type { ClusterDnsPlaces } from './shell/process.ts';
import { usageOf } from './usage.ts';

export const SIMULATED_VERSION = '1.0.0';
const PULL_MS_DEFAULT = 120;
/** Of an image that sets none. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const REVISION_LABELS = ['pod-template-hash', 'controller-revision-hash'];

export interface SimulatedRuntimeOptions {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly addresses: PodAddresses;
  /** The cluster's own ranges: `curl` and `wget` in a container reach nothing else. Its own pods alone without it. */
  readonly networks?: readonly string[];
  /** The cluster's DNS, for commands that resolve names. */
  readonly dns?: ClusterDnsPlaces;
  /** Runs what users' content drives; shared by all nodes of the process. */
  readonly content: ContentClient;
  /** Its components' ports are not for pods; default: a worker. */
  readonly isControlPlane?: boolean;
  /** False opens no ports at all, for thousands of pods that no one talks to. */
  readonly opensPorts?: boolean;
  readonly pullMs?: number;
}

/** A container's other side, which exists once it is needed. */
interface Inside {
  get(): ContentContainer;
  close(): void;
}

/** The ports of a sandbox's container. */
interface PodPorts extends OpenedPorts {
  readonly inside: Inside;
}

/** Waits on the clock, unless the pod goes first. */
const delay = (clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      timer.dispose();
      reject(new RuntimeError('CreateContainerError', 'context canceled'));
    };
    const timer = clock.after(durationMs, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

const portNamed = (container: V1Container, port: number | string | undefined): number | undefined =>
  typeof port === 'string'
    ? (container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port))
    : port;

const imageFiles = (
  { pod }: ContainerRequest,
  { dns, clusterDomain }: SandboxRequest,
  podIP: string,
  hostname: string,
): Map<string, string> =>
  new Map([
    ['/etc/hostname', `${hostname}\n`],
    ['/etc/hosts', hostsFile(pod, podIP, clusterDomain)],
    ['/etc/resolv.conf', resolvConf(dns)],
    ['/etc/os-release', 'NAME="Pilothouse simulated container"\nID=simulated\n'],
    ['/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'],
    ...(pod.spec?.securityContext?.sysctls ?? []).map(
      ({ name, value }) => [`/proc/sys/${name.replaceAll('.', '/')}`, `${value}\n`] as const,
    ),
  ]);

/** Containers that cost no process: they listen, answer, log, crash and exit as their annotations say. */
export class SimulatedRuntime implements Runtime {
  readonly name = 'simulated';
  readonly version = SIMULATED_VERSION;
  readonly #options: SimulatedRuntimeOptions;
  readonly #images = new ImageStore();

  constructor(options: SimulatedRuntimeOptions) {
    this.#options = options;
  }

  readonly isDurable = NOTHING_HELD.isDurable;
  readonly adoptSandbox = NOTHING_HELD.adoptSandbox;
  readonly heldPods = NOTHING_HELD.heldPods;
  readonly removePod = NOTHING_HELD.removePod;

  findImage(image: string): Promise<ImageInfo | undefined> {
    return Promise.resolve(this.#images.find(image));
  }

  images(): Promise<readonly ImageInfo[]> {
    return Promise.resolve(this.#images.list());
  }

  usage(containers: readonly RunningContainer[]): Promise<ReadonlyMap<RunningContainer, ContainerUsage>> {
    return Promise.resolve(
      new Map(
        containers.flatMap((container) =>
          container instanceof SimulatedContainer ? [[container, container.usage()] as const] : [],
        ),
      ),
    );
  }

  async pullImage({ pod, container, image, signal }: PullRequest): Promise<ImageInfo> {
    const { clock, pullMs = PULL_MS_DEFAULT } = this.#options;
    const known = this.#images.find(image);
    const durationMs = behaviourOf(pod, container).pullDelayMs ?? (known ? 0 : pullMs);
    if (durationMs > 0) await delay(clock, durationMs, signal);
    const info = resolveImage(image);
    this.#images.add(image, info);
    return info;
  }

  impliedReadiness(pod: V1Pod, container: V1Container): V1Probe | undefined {
    return behaviourOf(pod, container).notReadyMs > 0
      ? { exec: { command: [IMPLIED_READY] }, periodSeconds: 1 }
      : undefined;
  }

  createSandbox(request: SandboxRequest): Promise<Sandbox> {
    const { addresses } = this.#options;
    const isHostNetwork = request.pod.spec?.hostNetwork === true;
    const allocate = (): string => addresses.allocate(request.preferredIP);
    let podIP: string;
    try {
      podIP = isHostNetwork ? request.hostIP : allocate();
    } catch (error) {
      return Promise.reject(error as Error);
    }
    const open = new Map<string, PodPorts>();
    return Promise.resolve({
      podIPs: [podIP],
      onEnd: () => undefined,
      startContainer: (container) => this.#start(container, request, podIP, open),
      dial: (port) => dialPod({ podIP, hostIP: request.hostIP }, port, open),
      stop: () => {
        if (!isHostNetwork) addresses.release(podIP);
        this.#options.content.forget(request.pod.metadata?.uid ?? '');
        return Promise.resolve();
      },
    });
  }

  async #start(
    request: ContainerRequest,
    sandbox: SandboxRequest,
    podIP: string,
    open: Map<string, PodPorts>,
  ): Promise<RunningContainer> {
    const { clock, content, opensPorts = true } = this.#options;
    const { pod, container } = request;
    const behaviour = behaviourOf(pod, container);
    mustNotBeRoot(pod, container);
    if (behaviour.startDelayMs > 0) await delay(clock, behaviour.startDelayMs, request.signal);
    const log = new MemoryLog(clock);
    let running: SimulatedContainer | undefined;
    let early: ContainerExit | undefined;
    const inside = lazyInside(() =>
      content.container({
        describe: (ordinal) =>
          this.#facts(request, sandbox, { ordinal, podIP, notReadyMs: behaviour.notReadyMs }),
        log,
        onFault: (exit) => (running ? running.fault(exit) : (early = exit)),
      }),
    );
    const start = async (argv: readonly string[]): Promise<CommandStart> => ({
      argv,
      environment: new Map([['PATH', PATH], ...request.environment]),
      mounts: await mountsOf(request, sandbox),
    });
    try {
      const ports = opensPorts ? (container.ports ?? []) : [];
      const opened = ports.length === 0 ? undefined : await inside.get().open(ports);
      if (opened) open.set(container.name, { ...opened, inside });
      const program = await programOf({
        request,
        behaviour,
        understands: (argv) => content.understands(argv),
        prepare: async (argv) => {
          const command = await start(argv);
          return () => inside.get().run(command);
        },
      });
      const id = createHash('sha256')
        .update(`${pod.metadata?.uid ?? ''}/${container.name}/${request.attempt}/${clock.nowMs()}`)
        .digest('hex');
      const phase = (Number.parseInt(id.slice(0, 4), 16) / 65_536) * 2 * Math.PI;
      this.#greet(log, request, behaviour);
      running = new SimulatedContainer({
        id: `${this.name}://${id}`,
        clock,
        log,
        behaviour,
        ports: opened,
        program,
        usage: usageOf(container, behaviour, phase),
        probePorts: (probe) =>
          portNamed(container, probe.httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port),
        exec: async (exec) =>
          inside.get().exec(
            await start(exec.command).catch((error: unknown) => {
              throw new RuntimeError('ExecFailed', messageOf(error), { cause: error });
            }),
            exec,
          ),
        messagePolicy: container.terminationMessagePolicy,
        signal: (name) => inside.get().signal(name),
        close: () => inside.close(),
      });
      if (early) running.fault(early);
      return running;
    } catch (error) {
      inside.close();
      throw error;
    }
  }

  #greet(log: MemoryLog, { container: spec, pod }: ContainerRequest, behaviour: Behaviour): void {
    if (behaviour.logLines.length > 0 || (spec.ports ?? []).length === 0) return;
    const ports = (spec.ports ?? [])
      .map((port) => `${port.containerPort}/${port.protocol ?? 'TCP'}`)
      .join(', ');
    log.line(`${spec.name}: ${spec.image ?? ''} in pod ${pod.metadata?.name ?? ''} listens on ${ports}`);
  }

  #facts(
    request: ContainerRequest,
    sandbox: SandboxRequest,
    place: { readonly ordinal: number; readonly podIP: string; readonly notReadyMs: number },
  ): ContainerFacts {
    const { pod, container } = request;
    const labels = pod.metadata?.labels ?? {};
    const { hostname, fullName } = podNames(pod, sandbox.clusterDomain);
    const security = container.securityContext ?? {};
    const uid = security.runAsUser ?? pod.spec?.securityContext?.runAsUser ?? 0;
    const gid = security.runAsGroup ?? pod.spec?.securityContext?.runAsGroup ?? 0;
    const argv = commandLine(request);
    return {
      ...place,
      podUid: pod.metadata?.uid ?? '',
      podName: pod.metadata?.name ?? '',
      namespace: pod.metadata?.namespace ?? '',
      nodeName: this.#options.nodeName,
      containerName: container.name,
      revision: REVISION_LABELS.map((label) => labels[label]).find((value) => value !== undefined),
      hostIP: sandbox.hostIP,
      isControlPlane: this.#options.isControlPlane ?? false,
      hostname: pod.spec?.setHostnameAsFQDN === true ? (fullName ?? hostname) : hostname,
      networks: this.#options.networks ?? [],
      dns: this.#options.dns,
      user: { name: uid === 0 ? 'root' : String(uid), uid, gid, groups: groupsOf(pod) },
      isReadOnlyRoot: security.readOnlyRootFilesystem === true,
      messagePath: container.terminationMessagePath ?? MESSAGE_PATH_DEFAULT,
      workingDirectory: container.workingDir || '/',
      init: argv.length > 0 ? argv.join(' ') : (container.image ?? container.name),
      files: imageFiles(request, sandbox, place.podIP, hostname),
    };
  }
}

const lazyInside = (make: () => ContentContainer): Inside => {
  let inside: ContentContainer | undefined;
  let isClosed = false;
  return {
    get() {
      if (isClosed) throw new RuntimeError('ExecFailed', 'container is not running');
      return (inside ??= make());
    },
    close() {
      isClosed = true;
      inside?.remove();
    },
  };
};

const dialPod = async (
  { podIP, hostIP }: { readonly podIP: string; readonly hostIP: string },
  port: number,
  open: ReadonlyMap<string, PodPorts>,
): Promise<Duplex> => {
  const owner = [...open.values()].find(
    ({ bound, unbound }) => bound.includes(port) || unbound.includes(port),
  );
  if (!owner) throw new Error(`dial tcp4 127.0.0.1:${port}: connect: connection refused`);
  if (owner.unbound.includes(port)) return owner.inside.get().dial(port);
  return new Promise((resolve, reject) => {
    // From the node, which no NetworkPolicy keeps out.
    const socket = net.connect({ host: podIP, port, localAddress: hostIP }, () => resolve(socket));
    socket.on('error', reject);
  });
};

const mountsOf = async (
  { container, environment }: ContainerRequest,
  { volumes, pod }: SandboxRequest,
): Promise<MountedVolume[]> => {
  const mounts: MountedVolume[] = [];
  for (const mount of container.volumeMounts ?? []) {
    const content = await volumes.read(mount.name);
    const volume = pod.spec?.volumes?.find(({ name }) => name === mount.name);
    mounts.push({
      path: mount.mountPath.replace(/(.)\/$/, '$1'),
      top: {
        mode: volume ? topMode(volume, pod) : 0o755,
        gid: pod.spec?.securityContext?.fsGroup ?? 0,
      },
      volume: mount.name,
      subPath: subPathOf(mount, environment),
      isReadOnly: mount.readOnly === true,
      files: content.isWritable ? undefined : content.files,
    });
  }
  return mounts;
};
