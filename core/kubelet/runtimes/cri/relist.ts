import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { CriClient } from './cri-client.ts';
import type { CriContainer } from './cri-container.ts';
import type { ContainerStatus } from './messages.ts';
import { NODE_LABEL } from './sandbox-config.ts';

/** Upstream's rhythm of relisting; `look` asks sooner. */
const RELIST_MS = 1_000;
const LOOK_MS = 50;

/** Exit code of what was killed, by its kernel for memory or by anyone. */
const KILLED = 137;
const OUT_OF_MEMORY = 'OOMKilled';
/** Runtimes hear of memory that ran out apart from the exit, and on a busy machine later. */
const MEMORY_ASK_MS = 100;
const MEMORY_ASKS_MAX = 10;

const LOST_EXIT = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
} as const;

/**
 * Finds out what has become of containers and sandboxes by listing them, as upstream's kubelet does. Nothing is asked
 * while nothing is followed. A runtime that does not answer is asked again: its containers may well run.
 */
export class Relist implements Disposable {
  readonly #client: CriClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #nodeKey: string;
  readonly #containers = new Map<string, CriContainer>();
  readonly #sandboxes = new Map<string, () => void>();
  #timer: Disposable | undefined;
  #isListing = false;
  #isDisposed = false;
  #hasFailed = false;

  constructor(options: {
    readonly client: CriClient;
    readonly clock: Clock;
    readonly log: Log;
    readonly nodeKey: string;
  }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#nodeKey = options.nodeKey;
  }

  /** Those that have not exited. */
  get containers(): readonly CriContainer[] {
    return [...this.#containers.values()];
  }

  followContainer(container: CriContainer): void {
    this.#containers.set(container.criId, container);
    this.#schedule(RELIST_MS);
  }

  /** The listener is called once, when the sandbox is no longer ready. */
  followSandbox(id: string, onEnd: () => void): Disposable {
    this.#sandboxes.set(id, onEnd);
    this.#schedule(RELIST_MS);
    return { dispose: () => void this.#sandboxes.delete(id) };
  }

  look(): void {
    if (this.#isListing) return;
    this.#timer?.dispose();
    this.#timer = undefined;
    this.#schedule(LOOK_MS);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  #schedule(delayMs: number): void {
    const isIdle = this.#containers.size === 0 && this.#sandboxes.size === 0;
    if (this.#timer || this.#isListing || this.#isDisposed || isIdle) return;
    this.#timer = this.#clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#isListing = true;
      void this.#relist()
        .then(
          () => (this.#hasFailed = false),
          (error: unknown) => {
            if (!this.#hasFailed)
              this.#log.write('error', 'the container runtime does not answer', { error: messageOf(error) });
            this.#hasFailed = true;
          },
        )
        .finally(() => {
          this.#isListing = false;
          this.#schedule(RELIST_MS);
        });
    });
  }

  async #relist(): Promise<void> {
    const labels = { [NODE_LABEL]: this.#nodeKey };
    // Taken before the lists: what is followed later need not be on them.
    const followed = [...this.#containers.values()];
    const watched = [...this.#sandboxes];
    const [containers, sandboxes] = await Promise.all([
      this.#client.listContainers(labels),
      this.#client.listSandboxes(labels),
    ]);
    const states = new Map(containers.map(({ id, state }) => [id, state]));
    await Promise.all(
      followed.map(async (container) => {
        const state = states.get(container.criId);
        if (state === 'running' || state === 'created') return;
        const exit = state === undefined ? LOST_EXIT : await container.ended(await this.#endOf(container));
        if (this.#isDisposed) return;
        this.#containers.delete(container.criId);
        container.exited(exit);
      }),
    );
    const ready = new Set(sandboxes.filter(({ isReady }) => isReady).map(({ id }) => id));
    for (const [id, onEnd] of watched)
      if (!ready.has(id) && !this.#isDisposed && this.#sandboxes.delete(id)) onEnd();
  }

  async #endOf({ criId, isStopped }: CriContainer): Promise<ContainerStatus> {
    for (let asked = 1; ; asked += 1) {
      const status = await this.#client.containerStatus(criId);
      const isTold = status.exitCode !== KILLED || status.reason === OUT_OF_MEMORY;
      if (isTold || isStopped || asked === MEMORY_ASKS_MAX || this.#isDisposed) return status;
      await new Promise<void>((resolve) => void this.#clock.after(MEMORY_ASK_MS, resolve));
    }
  }
}
