import { toDisposable, type Disposable } from '../../../core/base/disposable.ts';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import {
  PeerError,
  type Peer,
  type PeerProbe,
  type PeerStatus,
  type PeerTransport,
  type RequestHandler,
  type SnapshotHandler,
  type SnapshotTransfer,
} from '../../../core/etcd/peer/transport.ts';
import type { Message } from '../../../core/raft/messages.ts';
import type { MemberId } from '../../../core/raft/types.ts';
import type { SimNetwork } from './network.ts';
import type { Process } from './process.ts';

/** A state that does not get through is given up by its sender after this long. */
const SNAPSHOT_LIMIT_MS = 1500;

const listen = <T>(handlers: Set<T>, handler: T): Disposable => {
  handlers.add(handler);
  return toDisposable(() => handlers.delete(handler));
};

interface Call {
  readonly kind: string;
  readonly payload: Uint8Array;
  readonly timeoutMs: number;
  readonly isAnonymous: boolean;
}

export interface TransportOptions {
  readonly id: MemberId;
  readonly machine: string;
  readonly process: Process;
  readonly network: SimNetwork;
  /** True time to the time of this machine, in which ages of connections are told. */
  readonly toMonotonicMs: (trueMs: number) => number;
  /** A real vote, no pre-vote, has left. */
  readonly onVoted: () => void;
}

/** One member's end of the simulated network; the other end of `TlsPeerTransport`'s contract. */
export class SimTransport implements PeerTransport {
  readonly #options: TransportOptions;
  readonly #startedMs: number;
  readonly #peers = new Map<MemberId, Peer>();
  /** Members that no one has told of yet, and that have spoken to this one: they are answered. */
  readonly #strangers = new Set<MemberId>();
  readonly #removed = new Set<MemberId>();
  readonly #messages = new Set<(message: Message) => void>();
  readonly #unreachable = new Set<(id: MemberId) => void>();
  readonly #refusals = new Set<(id: MemberId) => void>();
  readonly #removals = new Set<(by: MemberId) => void>();
  readonly #snapshots = new Set<SnapshotHandler>();
  readonly #requests = new Map<string, { handler: RequestHandler; anonymous: boolean }>();
  #isOpen = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#startedMs = options.network.timeline.nowMs;
  }

  get id(): MemberId {
    return this.#options.id;
  }
  get machine(): string {
    return this.#options.machine;
  }
  get process(): Process {
    return this.#options.process;
  }

  start(): Promise<void> {
    const { network, machine } = this.#options;
    this.#isOpen = true;
    network.attach(machine, this);
    return Promise.resolve();
  }

  setPeers(peers: readonly Peer[]): void {
    this.#peers.clear();
    for (const peer of peers) {
      this.#peers.set(peer.id, peer);
      this.#strangers.delete(peer.id);
    }
  }

  setRemoved(ids: readonly MemberId[]): void {
    this.#removed.clear();
    for (const id of ids) {
      this.#removed.add(id);
      this.#strangers.delete(id);
    }
  }

  send(messages: readonly Message[]): void {
    const { network, machine, process } = this.#options;
    if (!this.#isOpen || !process.isAlive) return;
    for (const message of messages) {
      network.onSend(message);
      if (message.kind === 'voteReply' && !message.pre && !message.reject) this.#options.onVoted();
      const to = this.#endOf(message.to);
      if (to !== undefined && network.carryMessage(message, machine, to.machine)) continue;
      // A connection that is down tells so, now and then: a lost packet alone does not.
      if (network.random.next() < 0.3)
        network.timeline.after(1, () => this.#unreachable.forEach((tell) => tell(message.to)), process);
    }
  }

  receive(message: Message): void {
    if (!this.#isOpen || message.to !== this.id) return;
    if (this.#removed.has(message.from)) {
      const { network, machine } = this.#options;
      const sender = network.byId(message.from);
      if (sender !== undefined)
        network.carry(machine, sender.machine, () => sender.#told(this.id), sender.process);
      return;
    }
    if (!this.#peers.has(message.from)) this.#strangers.add(message.from);
    for (const handler of this.#messages) handler(message);
  }

  #told(by: MemberId): void {
    for (const handler of this.#removals) handler(by);
  }

  /** The process of that member has ended, and this one finds out. */
  refusedBy(id: MemberId): void {
    if (this.#isOpen && this.#peers.has(id)) for (const handler of this.#refusals) handler(id);
  }

  onMessage(handler: (message: Message) => void): Disposable {
    return listen(this.#messages, handler);
  }
  onUnreachable(handler: (id: MemberId) => void): Disposable {
    return listen(this.#unreachable, handler);
  }
  onRefused(handler: (id: MemberId) => void): Disposable {
    return listen(this.#refusals, handler);
  }
  onRemoved(handler: (by: MemberId) => void): Disposable {
    return listen(this.#removals, handler);
  }
  onSnapshot(handler: SnapshotHandler): Disposable {
    return listen(this.#snapshots, handler);
  }

  handle(kind: string, handler: RequestHandler, options?: { readonly anonymous?: boolean }): Disposable {
    this.#requests.set(kind, { handler, anonymous: options?.anonymous ?? false });
    return toDisposable(() => this.#requests.delete(kind));
  }

  request(
    to: MemberId,
    kind: string,
    payload: Uint8Array,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Uint8Array> {
    const { network, machine, process } = this.#options;
    const asker = { network, machine, process, from: this.id };
    return askOver(asker, this.#endOf(to), { kind, payload, timeoutMs, isAnonymous: false });
  }

  /** Runs the handler as if a frame had come in. */
  async answer(call: Call, from: MemberId): Promise<Uint8Array> {
    const found = this.#requests.get(call.kind);
    if (!this.#isOpen || found === undefined)
      throw new PeerError('UnknownKind', `no handler of ${call.kind}`);
    if (call.isAnonymous && !found.anonymous) throw new PeerError('Refused', 'for members only');
    return found.handler(call.payload, from);
  }

  async sendSnapshot(
    to: MemberId,
    transfer: SnapshotTransfer,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { network, machine, process } = this.#options;
    network.onSend(transfer.message);
    const bytes: Uint8Array[] = [];
    for await (const chunk of chunks) bytes.push(Uint8Array.from(chunk));
    const end = this.#endOf(to);
    await new Promise<void>((resolve, reject) => {
      const giveUp = network.timeline.after(
        SNAPSHOT_LIMIT_MS,
        () => reject(new PeerError('Unreachable', 'the state did not get through')),
        process,
      );
      if (end === undefined) return;
      const reply = (settle: () => void): void => {
        const arrived = (): void => {
          giveUp.dispose();
          settle();
        };
        network.carry(end.machine, machine, arrived, process);
      };
      const arrive = (): void => {
        end.#takeSnapshot(this.id, transfer, bytes).then(
          () => reply(resolve),
          (error: unknown) => reply(() => reject(new PeerError('Failed', messageOf(error)))),
        );
      };
      network.carry(machine, end.machine, arrive, end.process);
    });
  }

  async #takeSnapshot(
    from: MemberId,
    transfer: SnapshotTransfer,
    bytes: readonly Uint8Array[],
  ): Promise<void> {
    const [handler] = this.#snapshots;
    if (!this.#isOpen || handler === undefined) throw new PeerError('Refused', 'not ready');
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield* bytes;
    }
    await handler(from, transfer, chunks());
  }

  status(id: MemberId): PeerStatus | undefined {
    if (!this.#peers.has(id)) return undefined;
    const { network, machine, toMonotonicMs } = this.#options;
    const end = this.#endOf(id);
    const isUp =
      end !== undefined && !network.isCut(machine, end.machine) && !network.isCut(end.machine, machine);
    const sinceMs = isUp ? Math.max(this.#startedMs, end.#startedMs, network.lastHealMs) : undefined;
    return {
      id,
      activeSinceMs: sinceMs === undefined ? undefined : toMonotonicMs(sinceMs),
      rttMs: undefined,
      bytesSent: 0,
      bytesReceived: 0,
      droppedCount: 0,
    };
  }

  close(): Promise<void> {
    const { network, machine } = this.#options;
    if (this.#isOpen && this.process.isAlive) network.detach(machine);
    this.#isOpen = false;
    return Promise.resolve();
  }

  /** Who listens at that member's addresses, if it is that member. */
  #endOf(id: MemberId): SimTransport | undefined {
    const { network } = this.#options;
    for (const url of this.#peers.get(id)?.urls ?? []) {
      const end = network.at(url);
      if (end?.id === id && end.process.isAlive) return end;
    }
    const stranger = this.#strangers.has(id) ? network.byId(id) : undefined;
    return stranger?.process.isAlive ? stranger : undefined;
  }
}

const askOver = (
  asker: { network: SimNetwork; machine: string; process: Process; from: MemberId },
  end: SimTransport | undefined,
  call: Call,
): Promise<Uint8Array> => {
  const { network, machine, process, from } = asker;
  return new Promise<Uint8Array>((resolve, reject) => {
    const late = network.timeline.after(
      call.timeoutMs,
      () => reject(new PeerError('Timeout', `no answer to ${call.kind}`)),
      process,
    );
    if (end === undefined) {
      network.timeline.after(1, () => reject(new PeerError('Unreachable', 'nobody listens there')), process);
      return;
    }
    const reply = (settle: () => void): void => {
      const arrived = (): void => {
        late.dispose();
        settle();
      };
      network.carry(end.machine, machine, arrived, process);
    };
    const failed = (error: unknown): PeerError =>
      error instanceof PeerError
        ? error
        : new PeerError('Failed', messageOf(error), {
            remoteReason: error instanceof ReasonError ? error.reason : '',
          });
    const arrive = (): void => {
      end.answer(call, from).then(
        (answer) => reply(() => resolve(answer)),
        (error: unknown) => reply(() => reject(failed(error))),
      );
    };
    network.carry(machine, end.machine, arrive, end.process);
  });
};

/** Asks by address: for a machine that is about to join. */
export const simProbe = (network: SimNetwork, machine: string, process: Process): PeerProbe => ({
  ask: (url, kind, payload, { timeoutMs }) =>
    askOver({ network, machine, process, from: 0 }, network.at(url), {
      kind,
      payload,
      timeoutMs,
      isAnonymous: true,
    }),
});
