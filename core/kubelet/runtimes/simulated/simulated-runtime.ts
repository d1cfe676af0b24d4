import { createHash } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { V1Container, V1Pod, V1Probe } from '../../../api/schema/index.ts';
import {
  RuntimeError,
  type ContainerRequest,
  type ImageInfo,
  type PullRequest,
  type RunningContainer,
  type Runtime,
  type Sandbox,
  type SandboxRequest,
} from '../runtime.ts';
import { behaviourOf, type Behaviour } from './behaviour.ts';
import { startExec } from './exec-session.ts';
import type { Responder } from './http-answer.ts';
import { ImageStore, resolveImage } from './images.ts';
import type { PodAddresses } from './pod-addresses.ts';
import type { ListenerPool } from './pod-listeners.ts';
import { type Listeners } from './pod-listeners.ts';
import { commandLine, programOf } from './program.ts';
import { MemoryFileSystem, newLayer, type Mount, type WritableLayer } from './shell/file-system.ts';
import type { ShellHost } from './shell/process.ts';
import { IMPLIED_READY, SimulatedContainer } from './simulated-container.ts';
import { usageOf } from './usage.ts';

export const SIMULATED_VERSION = '1.0.0';
const PULL_MS_DEFAULT = 120;
const KERNEL_VERSION = '6.6.0-simulated';
const REVISION_LABELS = ['pod-template-hash', 'controller-revision-hash'];

export interface SimulatedRuntimeOptions {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly addresses: PodAddresses;
  /** Shared by all nodes of the process. */
  readonly listeners: ListenerPool;
  /** False opens no ports at all, for thousands of pods that nobody talks to. */
  readonly opensPorts?: boolean;
  readonly pullMs?: number;
}

/** What exists of a container only once it runs, or once somebody looks into it. */
interface Late {
  container?: SimulatedContainer;
  layer?: WritableLayer;
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

const imageFiles = (request: ContainerRequest, podIP: string, hostname: string): Map<string, string> =>
  new Map([
    ['/etc/hostname', `${hostname}\n`],
    [
      '/etc/hosts',
      `# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n${podIP}\t${hostname}\n${(
        request.pod.spec?.hostAliases ?? []
      )
        .map(({ ip, hostnames }) => `${ip}\t${(hostnames ?? []).join('\t')}\n`)
        .join('')}`,
    ],
    [
      '/etc/resolv.conf',
      `search ${request.pod.metadata?.namespace ?? 'default'}.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n`,
    ],
    ['/etc/os-release', 'NAME="Pilothouse simulated container"\nID=simulated\n'],
    ['/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'],
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

  findImage(image: string): ImageInfo | undefined {
    return this.#images.find(image);
  }

  images(): readonly ImageInfo[] {
    return this.#images.list();
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
    const open = new Map<string, Listeners>();
    return Promise.resolve({
      podIPs: [podIP],
      startContainer: (container) => this.#start(container, request, podIP, open),
      dial: (port) => {
        const owner = [...open.values()].find(
          (listeners) => listeners.isListening(port) || listeners.unbound.includes(port),
        );
        return owner
          ? owner.dial(port)
          : Promise.reject(new Error(`dial tcp4 127.0.0.1:${port}: connect: connection refused`));
      },
      remove: () => {
        if (!isHostNetwork) addresses.release(podIP);
        return Promise.resolve();
      },
    });
  }

  async #start(
    request: ContainerRequest,
    sandbox: SandboxRequest,
    podIP: string,
    open: Map<string, Listeners>,
  ): Promise<RunningContainer> {
    const { clock, listeners: pool, opensPorts = true } = this.#options;
    const { pod, container } = request;
    const behaviour = behaviourOf(pod, container);
    if (behaviour.startDelayMs > 0) await delay(clock, behaviour.startDelayMs, request.signal);
    // The responder speaks for the container before it exists: nobody can connect until the ports are open.
    const late: Late = {};
    const responder = this.#responder(request, podIP, late);
    const ports = opensPorts ? (container.ports ?? []) : [];
    const opened =
      ports.length === 0
        ? undefined
        : await pool.open(ports, { address: podIP, hostIP: sandbox.hostIP, responder });
    if (opened) open.set(container.name, opened);
    const id = createHash('sha256')
      .update(`${pod.metadata?.uid ?? ''}/${container.name}/${request.attempt}/${clock.nowMs()}`)
      .digest('hex');
    const host = (): Promise<ShellHost> => this.#shellHost(request, podIP, late);
    const phase = (Number.parseInt(id.slice(0, 4), 16) / 65_536) * 2 * Math.PI;
    late.container = new SimulatedContainer({
      id: `${this.name}://${id}`,
      clock,
      behaviour,
      listeners: opened,
      program: programOf({ request, behaviour, clock, host }),
      usage: usageOf(container, behaviour, phase),
      probePorts: (probe) =>
        portNamed(container, probe.httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port),
      exec: async (exec) => startExec(await host(), request.environment, exec),
    });
    this.#greet(late.container, request, behaviour);
    return late.container;
  }

  #greet(
    container: SimulatedContainer,
    { container: spec, pod }: ContainerRequest,
    behaviour: Behaviour,
  ): void {
    if (behaviour.logLines.length > 0 || (spec.ports ?? []).length === 0) return;
    const ports = (spec.ports ?? [])
      .map((port) => `${port.containerPort}/${port.protocol ?? 'TCP'}`)
      .join(', ');
    container.log.line(
      `${spec.name}: ${spec.image ?? ''} in pod ${pod.metadata?.name ?? ''} listens on ${ports}`,
    );
  }

  #responder({ pod, container }: ContainerRequest, ip: string, late: Late): Responder {
    const labels = pod.metadata?.labels ?? {};
    const revision = REVISION_LABELS.map((label) => labels[label]).find((value) => value !== undefined);
    return {
      pod: pod.metadata?.name ?? '',
      namespace: pod.metadata?.namespace ?? '',
      node: this.#options.nodeName,
      container: container.name,
      revision,
      ip,
      isUp: () => late.container?.isUp ?? false,
      onRequest: (line) => late.container?.log.line(line),
    };
  }

  async #shellHost(request: ContainerRequest, podIP: string, late: Late): Promise<ShellHost> {
    const { pod, container } = request;
    const hostname = pod.spec?.hostname ?? pod.metadata?.name ?? '';
    const mounts: Mount[] = [];
    for (const mount of container.volumeMounts ?? []) {
      try {
        mounts.push({
          path: mount.mountPath.replace(/(.)\/$/, '$1'),
          content: await request.volumes.read(mount.name),
          subPath: mount.subPath ?? '',
          isReadOnly: mount.readOnly === true,
        });
      } catch (error) {
        throw new RuntimeError('ExecFailed', messageOf(error), { cause: error });
      }
    }
    const security = container.securityContext ?? {};
    const uid = security.runAsUser ?? pod.spec?.securityContext?.runAsUser ?? 0;
    const gid = security.runAsGroup ?? pod.spec?.securityContext?.runAsGroup ?? uid;
    const argv = commandLine(request);
    late.layer ??= newLayer(imageFiles(request, podIP, hostname));
    return {
      clock: this.#options.clock,
      hostname,
      podName: pod.metadata?.name ?? '',
      namespace: pod.metadata?.namespace ?? '',
      nodeName: this.#options.nodeName,
      podIP,
      kernelVersion: KERNEL_VERSION,
      user: { name: uid === 0 ? 'root' : String(uid), uid, gid },
      init: argv.length > 0 ? argv.join(' ') : (container.image ?? container.name),
      fileSystem: new MemoryFileSystem(late.layer, mounts),
    };
  }
}
