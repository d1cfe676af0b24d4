import { createServer, isIPv4, type Server, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { dial } from './dial.ts';
import { joinSockets, type Link } from './link.ts';
import type { ForwardObserver, MayReach, PickTarget, SourceFor, Target } from './target.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Targets tried for one client before it is reset. */
const TRIES_MAX = 8;
const BACKLOG = 1024;

export interface TcpForwarderOptions {
  /** May wait for a target that is about to come. */
  readonly pick: (
    ...args: Parameters<PickTarget>
  ) => ReturnType<PickTarget> | Promise<ReturnType<PickTarget>>;
  readonly budget: ConnectionBudget;
  readonly clock: Clock;
  readonly observer?: ForwardObserver;
  readonly connectTimeoutMs?: number;
  readonly sourceFor?: SourceFor | undefined;
  readonly mayReach?: MayReach | undefined;
}

/** `::ffff:127.0.0.1` is 127.0.0.1: affinity must not depend on how the listener was opened. */
export const plainAddress = (address: string | undefined): string => {
  const text = address ?? '';
  const mapped = text.toLowerCase().startsWith('::ffff:') ? text.slice('::ffff:'.length) : text;
  return isIPv4(mapped) ? mapped : text;
};

/**
 * Takes connections on one address and passes them through to targets. A client for whom no target can be reached is
 * reset, which is the nearest to a refused connection that somebody who has accepted it can do.
 */
export class TcpForwarder {
  readonly #options: TcpForwarderOptions;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #dialling = new Map<Socket, AbortController>();
  #onIdle: (() => void) | undefined;

  constructor(options: TcpForwarderOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  /** Connections that are forwarded, and those whose target is still being dialled. */
  get connectionsCount(): number {
    return this.#links.size + this.#dialling.size;
  }

  /** Rejects with the system's error: EADDRINUSE where another process listens. */
  listen(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host: address, port, backlog: BACKLOG, exclusive: true }, () => {
        this.#server.removeListener('error', reject);
        // Accepting can fail later for want of descriptors; the listener continues when some are free again.
        this.#server.on('error', () => this.#options.observer?.dropped?.());
        resolve();
      });
    });
  }

  /** Resets what is forwarded to the targets of which `isMeant` says so. */
  resetTargets(isMeant: (target: Target) => boolean): number {
    const meant = [...this.#links].filter(({ target }) => isMeant(target));
    for (const link of meant) link.reset();
    return meant.length;
  }

  /** Takes no more connections; those that are open continue. Calls back when the last of them has ended. */
  drain(onDrained: () => void): void {
    if (this.#server.listening) this.#server.close();
    this.#onIdle = onDrained;
    this.#tellIdle();
  }

  /** Stops listening and resets everything. */
  destroy(): void {
    if (this.#server.listening) this.#server.close();
    for (const [client, abort] of [...this.#dialling]) {
      abort.abort();
      client.resetAndDestroy();
    }
    this.resetTargets(() => true);
  }

  #accept(client: Socket): void {
    const { budget, observer } = this.#options;
    // Before anything else: an error without a listener ends the process.
    client.on('error', () => undefined);
    if (!budget.take()) {
      observer?.dropped?.();
      client.resetAndDestroy();
      return;
    }
    const abort = new AbortController();
    const onGone = (): void => abort.abort();
    client.once('close', onGone);
    this.#dialling.set(client, abort);
    this.#reach(plainAddress(client.remoteAddress), abort.signal)
      .then((reached) => {
        this.#dialling.delete(client);
        client.removeListener('close', onGone);
        if (reached) this.#join(client, reached);
        else this.#refuse(client);
      })
      // A defect in picking must not leave a client hanging.
      .catch(() => this.#refuse(client));
  }

  #refuse(client: Socket): void {
    this.#dialling.delete(client);
    this.#options.observer?.refused?.();
    client.resetAndDestroy();
    this.#options.budget.give();
    this.#tellIdle();
  }

  #join(client: Socket, { target, upstream }: { target: Target; upstream: Socket }): void {
    const { clock, observer, budget } = this.#options;
    const link = joinSockets({
      client,
      upstream,
      target,
      clock,
      onClosed: () => {
        this.#links.delete(link);
        budget.give();
        observer?.closed?.(target);
        this.#tellIdle();
      },
    });
    this.#links.add(link);
    observer?.opened?.(target);
  }

  async #reach(
    clientAddress: string,
    signal: AbortSignal,
  ): Promise<{ target: Target; upstream: Socket } | undefined> {
    const {
      pick,
      clock,
      observer,
      sourceFor,
      mayReach,
      connectTimeoutMs = CONNECT_TIMEOUT_MS,
    } = this.#options;
    const tried = new Set<string>();
    while (tried.size < TRIES_MAX && !signal.aborted) {
      const target = await pick(clientAddress, tried);
      if (signal.aborted) return undefined;
      if (!target) return undefined;
      if ((await (mayReach?.(clientAddress, target) ?? true)) === false) {
        tried.add(target.name);
        continue;
      }
      try {
        const localAddress = sourceFor?.(clientAddress, target);
        const upstream = await dial(target, { clock, timeoutMs: connectTimeoutMs, signal, localAddress });
        return { target, upstream };
      } catch (error) {
        if (!signal.aborted) observer?.connectFailed?.(target, error as Error);
        tried.add(target.name);
      }
    }
    return undefined;
  }

  #tellIdle(): void {
    if (this.connectionsCount > 0) return;
    const onIdle = this.#onIdle;
    this.#onIdle = undefined;
    onIdle?.();
  }
}
