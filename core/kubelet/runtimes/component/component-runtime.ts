import net from 'node:net';
import { createHash } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { expandReferences } from '../../volumes/environment.ts';
import { MemoryLog } from '../memory-log.ts';
import {
  NOTHING_HELD,
  RuntimeError,
  type ContainerExit,
  type ContainerRequest,
  type ContainerUsage,
  type ImageInfo,
  type RunningContainer,
  type Runtime,
  type Sandbox,
  type SandboxRequest,
} from '../runtime.ts';

/** A component as the composition root runs it, in a worker thread of its own. */
export interface ComponentHandle {
  /** It has begun to serve; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** Never rejects: a component that dies of an error has a code and a message. */
  readonly exited: Promise<{ readonly exitCode: number; readonly message?: string }>;
  /** Asks it to end; it is killed after `graceMs`. */
  stop(graceMs: number): void;
  kill(): void;
  /** Its output, piece by piece; ends with it. */
  readonly logs: AsyncIterable<string>;
  usage?(): {
    readonly cpuNanoCores: number;
    readonly cpuCoreNanoSeconds: number;
    readonly memoryBytes: number;
  };
}

export interface ComponentRequest {
  /** `kube-apiserver` */
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  /** `registry.k8s.io/kube-apiserver:v1.36.0`: the tag is the version to emulate. */
  readonly image: string;
  readonly podName: string;
}

/** Throws or rejects when there is no such component or its arguments are wrong. */
export type StartComponent = (request: ComponentRequest) => ComponentHandle | Promise<ComponentHandle>;

export interface ComponentRuntimeOptions {
  readonly clock: Clock;
  readonly startComponent: StartComponent;
  readonly version: string;
}

const IDLE: ContainerUsage = { cpuNanoCores: 0, cpuCoreNanoSeconds: 0, memoryBytes: 0 };
const EXIT_SIGKILL = 137;

class ComponentContainer implements RunningContainer {
  readonly id: string;
  readonly log: MemoryLog;
  readonly #handle: ComponentHandle;
  readonly #clock: Clock;
  readonly #listeners: ((exit: ContainerExit) => void)[] = [];
  #exit: ContainerExit | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;
  #isKilled = false;

  constructor(id: string, handle: ComponentHandle, clock: Clock) {
    this.id = id;
    this.#handle = handle;
    this.#clock = clock;
    this.log = new MemoryLog(clock);
    const copied = this.#copyLogs();
    handle.ready.catch(() => undefined);
    void handle.exited.then(async ({ exitCode, message }) => {
      await copied;
      const code = this.#isKilled ? EXIT_SIGKILL : exitCode;
      this.#exit = {
        exitCode: code,
        reason: code === 0 ? 'Completed' : 'Error',
        ...(message !== undefined && { message }),
      };
      for (const listener of this.#listeners) listener(this.#exit);
    });
  }

  onExit(listener: (exit: ContainerExit) => void): void {
    const exit = this.#exit;
    if (exit) queueMicrotask(() => listener(exit));
    else this.#listeners.push(listener);
  }

  stop(graceMs: number): void {
    const killAtMs = this.#clock.monotonicMs() + graceMs;
    if (this.#exit || killAtMs >= this.#killAtMs) return;
    const isFirst = this.#killAtMs === Number.POSITIVE_INFINITY;
    this.#killAtMs = killAtMs;
    if (isFirst) this.#handle.stop(graceMs);
    this.#clock.after(graceMs, () => {
      if (this.#exit || this.#killAtMs !== killAtMs) return;
      this.#isKilled = true;
      this.#handle.kill();
    });
  }

  exec(): Promise<never> {
    return Promise.reject(
      new RuntimeError('ExecFailed', 'components run in threads of their host: there is no shell in them'),
    );
  }

  attach(): Promise<never> {
    return this.exec();
  }

  /** Components run in the process of their host, and have its resources. */
  resize(): Promise<void> {
    return Promise.resolve();
  }

  run(): Promise<never> {
    return this.exec();
  }

  usage(): ContainerUsage {
    return this.#exit ? IDLE : (this.#handle.usage?.() ?? IDLE);
  }

  async #copyLogs(): Promise<void> {
    try {
      for await (const text of this.#handle.logs) this.log.write(text);
    } catch (error) {
      this.log.line(`the log of the component broke off: ${messageOf(error)}`, 'stderr');
    }
  }
}

/**
 * Runs the containers of static pods as components: `command` names it, the rest are its flags. They share the
 * host's network, so the pod's address is the host's.
 */
export class ComponentRuntime implements Runtime {
  readonly name = 'component';
  readonly version: string;
  readonly #options: ComponentRuntimeOptions;

  constructor(options: ComponentRuntimeOptions) {
    this.#options = options;
    this.version = options.version;
  }

  readonly isDurable = NOTHING_HELD.isDurable;
  readonly adoptSandbox = NOTHING_HELD.adoptSandbox;
  readonly heldPods = NOTHING_HELD.heldPods;
  readonly removePod = NOTHING_HELD.removePod;

  findImage(image: string): Promise<ImageInfo> {
    return Promise.resolve(this.#imageOf(image));
  }

  #imageOf(image: string): ImageInfo {
    const digest = createHash('sha256').update(image).digest('hex');
    return { image, imageID: `${image.replace(/:[^:/]*$/, '')}@sha256:${digest}`, sizeBytes: 0 };
  }

  pullImage({ image }: { readonly image: string }): Promise<ImageInfo> {
    return this.findImage(image);
  }

  images(): Promise<readonly ImageInfo[]> {
    return Promise.resolve([]);
  }

  usage(containers: readonly RunningContainer[]): Promise<ReadonlyMap<RunningContainer, ContainerUsage>> {
    return Promise.resolve(
      new Map(
        containers.flatMap((container) =>
          container instanceof ComponentContainer ? [[container, container.usage()] as const] : [],
        ),
      ),
    );
  }

  createSandbox({ hostIP }: SandboxRequest): Promise<Sandbox> {
    return Promise.resolve({
      podIPs: [hostIP],
      onEnd: () => undefined,
      startContainer: (request) => this.#start(request),
      dial: (port) =>
        new Promise((resolve, reject) => {
          const socket = net.connect({ host: hostIP, port }, () => resolve(socket));
          socket.once('error', reject);
        }),
      stop: () => Promise.resolve(),
    });
  }

  async #start(request: ContainerRequest): Promise<RunningContainer> {
    const { pod, container, environment, attempt } = request;
    const { clock, startComponent } = this.#options;
    const [command, ...args] = [...(container.command ?? []), ...(container.args ?? [])].map((word) =>
      expandReferences(word, environment),
    );
    if (command === undefined)
      throw new RuntimeError('CreateContainerError', `container ${container.name} has no command`);
    const name = command.replace(/^.*\//, '');
    try {
      const handle = await startComponent({
        name,
        args,
        environment,
        image: container.image ?? '',
        podName: pod.metadata?.name ?? '',
      });
      const id = createHash('sha256')
        .update(`${pod.metadata?.uid ?? ''}/${container.name}/${attempt}/${clock.nowMs()}`)
        .digest('hex');
      return new ComponentContainer(`${this.name}://${id}`, handle, clock);
    } catch (error) {
      throw new RuntimeError('RunContainerError', `${name}: ${messageOf(error)}`, { cause: error });
    }
  }
}
