import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import type { ForwardObserver, MayReach, PickTarget, SourceFor, Target } from './target.ts';

/** As conntrack's udp timeouts: a single question and its answer, and a conversation. */
const EXCHANGE_IDLE_MS = 30_000;
const STREAM_IDLE_MS = 120_000;
/** Datagrams from a client after which its session is a conversation. */
const STREAM_DATAGRAMS_MIN = 3;
const SESSIONS_MAX = 4096;
const SWEEP_MS = 5_000;
/** Datagrams held while the socket of a session is being connected; more are dropped, as the network would. */
const PENDING_MAX = 16;

interface Session {
  readonly key: string;
  readonly target: Target;
  readonly socket: Socket;
  lastUsedMs: number;
  received: number;
  /** Undefined once the socket is connected. */
  pending: Buffer[] | undefined;
}

export interface UdpForwarderOptions {
  readonly pick: PickTarget;
  readonly budget: ConnectionBudget;
  readonly clock: Clock;
  readonly observer?: ForwardObserver;
  readonly sourceFor?: SourceFor;
  readonly mayReach?: MayReach;
  readonly sessionsMax?: number;
}

const NONE_TRIED: ReadonlySet<string> = new Set();

/**
 * Forwards datagrams. Each client address and port has a session with a socket of its own, so that answers find their
 * way back; sessions end when idle, when their target goes, or, the longest idle first, when there are too many.
 */
export class UdpForwarder {
  readonly #options: UdpForwarderOptions;
  readonly #listener: Socket;
  /** In the order of last use, which is how the longest idle is found. */
  readonly #sessions = new Map<string, Session>();
  #sweep: Disposable | undefined;
  #closed = false;

  constructor(options: UdpForwarderOptions) {
    this.#options = options;
    this.#listener = createSocket('udp4');
    this.#listener.on('message', (message, from) => this.#receive(message, from));
  }

  get connectionsCount(): number {
    return this.#sessions.size;
  }

  listen(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', (error) => {
        this.destroy();
        reject(error);
      });
      this.#listener.bind({ address, port, exclusive: true }, () => {
        this.#listener.removeAllListeners('error');
        // Sending can fail for one client (its port is closed); the listener serves the others.
        this.#listener.on('error', () => this.#options.observer?.dropped?.());
        resolve();
      });
    });
  }

  resetTargets(isMeant: (target: Target) => boolean): number {
    const meant = [...this.#sessions.values()].filter(({ target }) => isMeant(target));
    for (const session of meant) this.#end(session);
    return meant.length;
  }

  /** A conversation without a listener has no way back: draining is ending. */
  drain(onDrained: () => void): void {
    this.destroy();
    onDrained();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sweep?.dispose();
    this.resetTargets(() => true);
    this.#listener.close();
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    const key = `${from.address}:${from.port}`;
    const session = this.#sessions.get(key) ?? this.#begin(key, from);
    if (!session) return;
    session.received += 1;
    this.#touch(session);
    if (session.pending === undefined) session.socket.send(message);
    else if (session.pending.length < PENDING_MAX) session.pending.push(message);
  }

  #begin(key: string, from: RemoteInfo): Session | undefined {
    const { pick, budget, clock, observer, mayReach, sessionsMax = SESSIONS_MAX } = this.#options;
    const target = pick(from.address, NONE_TRIED);
    if (!target) {
      observer?.refused?.();
      return undefined;
    }
    const oldest = this.#sessions.values().next().value;
    if (oldest && this.#sessions.size >= sessionsMax) this.#end(oldest);
    if (!budget.take()) {
      observer?.dropped?.();
      return undefined;
    }
    const socket = createSocket('udp4');
    const session: Session = {
      key,
      target,
      socket,
      lastUsedMs: clock.monotonicMs(),
      received: 0,
      pending: [],
    };
    // ECONNREFUSED is the target's ICMP response: its port is closed, and the next datagram picks another target.
    socket.on('error', (error) => {
      observer?.connectFailed?.(target, error);
      this.#end(session);
    });
    socket.on('message', (answer) => {
      if (this.#sessions.get(key) !== session) return;
      this.#touch(session);
      this.#listener.send(answer, from.port, from.address);
    });
    // Not as the callback of connect: that would be given the error instead of the listener above.
    socket.once('connect', () => {
      if (this.#sessions.get(key) !== session) return;
      const waiting = session.pending ?? [];
      session.pending = undefined;
      for (const message of waiting) socket.send(message);
    });
    const source = this.#options.sourceFor?.(from.address, target);
    const connect = (): void =>
      void (this.#sessions.get(key) === session && socket.connect(target.port, target.host));
    const open = (): void => {
      if (source === undefined) connect();
      else socket.bind({ address: source, port: 0 }, connect);
    };
    this.#sessions.set(key, session);
    observer?.opened?.(target);
    this.#arm();
    const verdict = mayReach?.(from.address, target);
    if (verdict === undefined) open();
    else this.#openWhenAllowed(session, verdict, open);
    return session;
  }

  /** Datagrams of who may not are dropped until the session is idle: an answer of ours would be one of the target. */
  #openWhenAllowed(session: Session, verdict: Promise<boolean>, open: () => void): void {
    const refuse = (): void => {
      if (this.#sessions.get(session.key) === session) this.#options.observer?.refused?.();
    };
    verdict.then((isAllowed) => {
      if (this.#sessions.get(session.key) !== session) return;
      if (isAllowed) open();
      else refuse();
    }, refuse);
  }

  #touch(session: Session): void {
    session.lastUsedMs = this.#options.clock.monotonicMs();
    this.#sessions.delete(session.key);
    this.#sessions.set(session.key, session);
  }

  #end(session: Session): void {
    if (this.#sessions.get(session.key) !== session) return;
    this.#sessions.delete(session.key);
    session.socket.close();
    this.#options.budget.give();
    this.#options.observer?.closed?.(session.target);
  }

  #arm(): void {
    if (this.#closed || this.#sessions.size === 0) return;
    this.#sweep ??= this.#options.clock.after(SWEEP_MS, () => {
      this.#sweep = undefined;
      this.#endIdle();
      this.#arm();
    });
  }

  #endIdle(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const session of [...this.#sessions.values()]) {
      const idleMs = nowMs - session.lastUsedMs;
      // In order of last use: from here on all were used lately.
      if (idleMs < EXCHANGE_IDLE_MS) return;
      if (idleMs >= STREAM_IDLE_MS || session.received < STREAM_DATAGRAMS_MIN) this.#end(session);
    }
  }
}
