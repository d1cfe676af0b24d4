import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import net from 'node:net';
import type { Disposable } from '../../base/disposable.ts';

/** What becomes of bytes that come from these addresses. */
export interface LinkRule {
  readonly addresses: readonly string[];
  /** Null: they never arrive. */
  readonly delayMs: number | null;
}

export interface LinkGate extends Disposable {
  /** Replaces the rules. Data held back by a removed rule is delivered, as after a retransmission. */
  setRules(rules: readonly LinkRule[]): void;
  /** For a thread that is about to end: no connection is read any more. */
  silence(): void;
  /** Ends every connection; resolves when all are closed, or after the time. */
  endAll(limitMs: number): Promise<void>;
}

/** Held per connection; beyond it nothing more is read, and the sender's buffers fill up. */
const HELD_BYTES_MAX = 256 * 1024;
/** Readers resume a paused socket on their own, so a connection on a cut link is paused again at this interval. */
const STOP_EVERY_MS = 10;
/** What the platform tells about every connection that a server takes. */
const ACCEPTED_CHANNEL = 'net.server.socket';

interface Held {
  readonly chunk: unknown;
  readonly encoding: BufferEncoding | undefined;
  readonly dueMs: number;
}

interface Handle {
  readStart(): void;
  readStop(): void;
}

type Push = (this: net.Socket, chunk: unknown, encoding?: BufferEncoding) => boolean;

const handleOf = (socket: net.Socket): Handle | undefined =>
  (socket as unknown as { readonly _handle?: Handle | null })._handle ?? undefined;

const isBytes = (chunk: unknown): chunk is Uint8Array => chunk instanceof Uint8Array;

const withSource = (options: unknown, network: string, address: string): unknown => {
  const { host, localAddress, path } = (options ?? {}) as {
    host?: unknown;
    localAddress?: unknown;
    path?: unknown;
  };
  if (path !== undefined || localAddress !== undefined || typeof host !== 'string') return options;
  return host.startsWith(network) ? { ...(options as object), localAddress: address } : options;
};

/**
 * Stands between this thread and its connections. Outgoing ones into the cluster come from the host's own address, so
 * that the other end knows who speaks. Rules act where bytes are received: what JavaScript reads is held back in
 * `push`, and what the platform reads natively (HTTP/2 and HTTP/1 of Node) is stopped at the socket. No end of a cut
 * link sees a reset or an end: silence, as when packets are dropped.
 */
class Gate implements LinkGate {
  readonly #sockets = new Set<net.Socket>();
  readonly #held = new Map<net.Socket, { queue: Held[]; bytes: number; timer: NodeJS.Timeout | undefined }>();
  readonly #peers = new WeakMap<net.Socket, string>();
  readonly #push: Push;
  readonly #undo: (() => void)[] = [];
  #rules = new Map<string, LinkRule>();
  #stopping: NodeJS.Timeout | undefined;
  #stopped = new Set<net.Socket>();

  constructor(address: string, network: string) {
    const prototype = net.Socket.prototype as unknown as { push: Push; connect(...args: unknown[]): unknown };
    const { connect } = prototype;
    this.#push = prototype.push;
    const hasOwnPush = Object.hasOwn(prototype, 'push');
    const track = (socket: net.Socket): void => this.#track(socket);
    const pushed = (socket: net.Socket, chunk: unknown, encoding: BufferEncoding | undefined): boolean =>
      this.#pushed(socket, chunk, encoding);
    prototype.push = function (chunk, encoding) {
      return pushed(this, chunk, encoding);
    };
    prototype.connect = function (this: net.Socket, ...args: unknown[]) {
      // Node hands itself an array that it has normalized already; it is marked, so it must stay that array.
      const [first] = args;
      if (Array.isArray(first)) first[0] = withSource(first[0], network, address);
      else if (typeof first === 'object' && first !== null) args[0] = withSource(first, network, address);
      track(this);
      return connect.apply(this, args);
    };
    const onAccepted = (message: unknown): void => track((message as { socket: net.Socket }).socket);
    subscribe(ACCEPTED_CHANNEL, onAccepted);
    this.#undo.push(() => {
      if (hasOwnPush) prototype.push = this.#push;
      else delete (prototype as { push?: Push }).push;
      prototype.connect = connect;
      unsubscribe(ACCEPTED_CHANNEL, onAccepted);
    });
  }

  setRules(rules: readonly LinkRule[]): void {
    this.#rules = new Map(rules.flatMap((rule) => rule.addresses.map((address) => [address, rule])));
    clearInterval(this.#stopping);
    this.#stopping = undefined;
    const before = this.#stopped;
    this.#stopped = new Set();
    if (rules.some(({ delayMs }) => delayMs === null)) {
      this.#stopping = setInterval(() => this.#stopAll(), STOP_EVERY_MS).unref();
      this.#stopAll();
    }
    for (const socket of before) if (!this.#stopped.has(socket)) handleOf(socket)?.readStart();
    for (const socket of [...this.#held.keys()]) this.#release(socket);
  }

  silence(): void {
    for (const socket of this.#sockets) handleOf(socket)?.readStop();
  }

  async endAll(limitMs: number): Promise<void> {
    const open = [...this.#sockets];
    const closed = open.map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    for (const socket of open) socket.destroy();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
    await Promise.race([Promise.all(closed), late]);
    clearTimeout(timer);
  }

  dispose(): void {
    this.setRules([]);
    for (const undo of this.#undo) undo();
  }

  #track(socket: net.Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#stopped.delete(socket);
      clearTimeout(this.#held.get(socket)?.timer);
      this.#held.delete(socket);
    });
    if (this.#stopping) setImmediate(() => this.#stop(socket));
  }

  #ruleOf(socket: net.Socket): LinkRule | undefined {
    if (this.#rules.size === 0) return undefined;
    let peer = this.#peers.get(socket);
    if (peer === undefined) {
      peer = socket.remoteAddress;
      if (peer === undefined) return undefined;
      this.#peers.set(socket, peer);
    }
    return this.#rules.get(peer);
  }

  #stopAll(): void {
    for (const socket of this.#sockets) this.#stop(socket);
  }

  #stop(socket: net.Socket): void {
    const rule = this.#ruleOf(socket);
    if (rule?.delayMs !== null || rule === undefined || socket.destroyed) return;
    this.#stopped.add(socket);
    handleOf(socket)?.readStop();
  }

  #pushed(socket: net.Socket, chunk: unknown, encoding: BufferEncoding | undefined): boolean {
    const before = this.#held.get(socket);
    const rule = this.#ruleOf(socket);
    if (!before && !rule) return this.#push.call(socket, chunk, encoding);
    const held = before ?? { queue: [], bytes: 0, timer: undefined };
    this.#held.set(socket, held);
    // Bytes never overtake one another.
    const delayMs = rule === undefined ? 0 : (rule.delayMs ?? Infinity);
    held.queue.push({ chunk, encoding, dueMs: performance.now() + delayMs });
    held.bytes += isBytes(chunk) ? chunk.byteLength : 0;
    this.#schedule(socket);
    return held.bytes < HELD_BYTES_MAX;
  }

  #schedule(socket: net.Socket): void {
    const held = this.#held.get(socket);
    const first = held?.queue[0];
    if (!held || !first || held.timer !== undefined || first.dueMs === Infinity) return;
    held.timer = setTimeout(
      () => {
        held.timer = undefined;
        this.#deliver(socket);
      },
      Math.max(0, first.dueMs - performance.now()),
    );
  }

  #deliver(socket: net.Socket): void {
    const held = this.#held.get(socket);
    while (held && held.queue.length > 0 && held.queue[0]!.dueMs <= performance.now() + 1) {
      const { chunk, encoding } = held.queue.shift()!;
      held.bytes -= isBytes(chunk) ? chunk.byteLength : 0;
      if (!socket.destroyed) this.#push.call(socket, chunk, encoding);
    }
    if (held?.queue.length === 0) this.#held.delete(socket);
    else this.#schedule(socket);
  }

  /** What is held is due as the rule of now says. */
  #release(socket: net.Socket): void {
    const held = this.#held.get(socket);
    if (!held) return;
    clearTimeout(held.timer);
    held.timer = undefined;
    const rule = this.#ruleOf(socket);
    const delayMs = rule === undefined ? 0 : (rule.delayMs ?? Infinity);
    held.queue = held.queue.map((one) => ({ ...one, dueMs: performance.now() + delayMs }));
    this.#deliver(socket);
  }
}

/** Installed once in a thread, before anything in it dials or listens. `network` is the beginning of its addresses. */
export const installLinkGate = (place: { readonly address: string; readonly network: string }): LinkGate =>
  new Gate(place.address, place.network);
