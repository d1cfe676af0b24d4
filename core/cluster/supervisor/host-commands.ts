import { type Said, SaidError, say } from '../../contract/index.ts';
import { putManifestBack, setManifestAside } from '../data-folder/manifest-aside.ts';
import { STOP_STAGES } from '../host/messages.ts';
import type { HostLink } from './host-link.ts';

/** A start that takes longer than this on any machine will not come to an end. */
export const START_TIMEOUT_MS = 240_000;
const STOP_GRACE_MS = 10_000;
const STAGE_TIMEOUT_MS = 3_000;
/** An orderly end that has not come by then is made. */
const KILL_AFTER_MS = STOP_GRACE_MS + 2_000;

export interface HostCommandsOptions {
  readonly dataDirectory: string;
  /** Throws `NotFound` where there is none. */
  host(name: string): HostLink;
  hosts(): readonly HostLink[];
  /** Aborted when the cluster is being stopped. */
  readonly signal: AbortSignal;
  /** A person decides what becomes of a host: no restart of it is due any more. True where one was. */
  release(name: string): boolean;
  /** What is not ready of all that runs, for the person who waits. */
  missing(): Said | undefined;
}

/** What a person, or an operation, does to single hosts and components. */
export class HostCommands {
  readonly #options: HostCommandsOptions;

  constructor(options: HostCommandsOptions) {
    this.#options = options;
  }

  /** Resolves when the process runs; what is in it becomes ready by and by. */
  async start(name: string): Promise<void> {
    const link = this.#options.host(name);
    this.#options.release(name);
    await this.launch(link);
  }

  /** As `start`, without a person: exits in a row continue being counted. */
  async launch(link: HostLink): Promise<void> {
    const { name } = link.plan;
    // What an operation starts while the cluster ends would outlive it.
    this.#options.signal.throwIfAborted();
    link.launch();
    await link.until(() => link.phase !== 'starting', START_TIMEOUT_MS);
    if (link.phase === 'failed')
      throw new SaidError(
        'HostFailed',
        say('failure.host.failed', { host: name, why: link.state().message ?? '' }),
      );
  }

  /** An orderly end of one host; the others continue. */
  async stop(name: string): Promise<void> {
    const link = this.#options.host(name);
    this.#options.release(name);
    await this.stopInOrder([link]);
  }

  async kill(name: string): Promise<void> {
    const link = this.#options.host(name);
    // It has exited on its own and waits for its restart: from now on it is down because a person wants it.
    if (this.#options.release(name) && !link.isAlive) return link.explain(say('exit.killed'));
    link.kill();
    await link.until(() => !link.isAlive, KILL_AFTER_MS);
  }

  /** Stops a host in order, starts it, and waits until everything on it is ready again. */
  async restart(name: string): Promise<void> {
    const link = this.#options.host(name);
    await this.stop(name);
    await this.start(name);
    const isReady = (): boolean =>
      link.phase === 'running' && link.state().components.every(({ phase }) => phase === 'ready');
    if (!(await link.until(isReady, START_TIMEOUT_MS)))
      throw new SaidError(
        'NotReady',
        say('failure.host.notReady', { host: name, why: this.#options.missing() ?? '' }),
      );
  }

  /** Freezes the process, as a machine that hangs: it does not respond and its connections stay open. */
  async pause(name: string): Promise<void> {
    await Promise.resolve(this.#options.host(name).pause());
  }

  async resume(name: string): Promise<void> {
    await Promise.resolve(this.#options.host(name).resume());
  }

  /** As `kill -9` of one component; its kubelet starts it again. */
  async killComponent(host: string, component: string): Promise<void> {
    await Promise.resolve(this.#options.host(host).killComponent(component));
  }

  /** As an operator does it: the manifest is moved out of the folder that the kubelet watches. */
  async stopComponent(host: string, component: string): Promise<void> {
    const link = this.#options.host(host);
    await setManifestAside(this.#options.dataDirectory, host, component);
    const isOver = (): boolean => (link.component(component)?.phase ?? 'exited') === 'exited';
    if (!(await link.until(isOver, KILL_AFTER_MS))) link.killComponent(component);
    await link.until(isOver, KILL_AFTER_MS);
  }

  async startComponent(host: string, component: string): Promise<void> {
    this.#options.host(host);
    await putManifestBack(this.#options.dataDirectory, host, component);
  }

  async refreshUsage(): Promise<void> {
    await Promise.all(this.#options.hosts().map((link) => link.refreshUsage()));
  }

  /** Stage by stage over all of them; who does not keep up is not waited for, and killed in the end. */
  async stopInOrder(links: readonly HostLink[]): Promise<void> {
    const alive = links.filter((link) => link.isAlive);
    for (const link of alive) link.beginStop(STOP_GRACE_MS);
    for (const [index, stage] of STOP_STAGES.entries()) {
      const next = STOP_STAGES[index + 1];
      if (next === undefined) break;
      await Promise.all(alive.map((link) => link.until(() => link.isDrained(stage), STAGE_TIMEOUT_MS)));
      for (const link of alive) link.enterStage(next);
    }
    await Promise.all(
      alive.map(async (link) => {
        if (!(await link.until(() => !link.isAlive, KILL_AFTER_MS))) link.kill();
        await link.until(() => !link.isAlive, KILL_AFTER_MS);
      }),
    );
  }
}
