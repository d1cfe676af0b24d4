import type { Socket } from 'node:net';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Message } from '../../raft/messages.ts';
import type { MemberId } from '../../raft/types.ts';
import { addressOf } from './dial.ts';
import type { Hello, Purpose } from './hello.ts';
import { InboundConnection, type Host } from './inbound.ts';
import { PeerLink } from './link.ts';
import { PeerListener } from './listener.ts';
import type { PeerInstruments, PeerMetrics } from './metrics.ts';
import { RequestHandlers } from './requests.ts';
import { limitsFor, type PeerLimits, type PeerSettings, type PeerTls } from './settings.ts';
import { sendSnapshot } from './snapshot-stream.ts';
import {
  PeerError,
  type Peer,
  type PeerStatus,
  type PeerTransport,
  type RequestHandler,
  type SnapshotHandler,
  type SnapshotTransfer,
} from './transport.ts';

const INBOUND_CONNECTIONS_MAX = 256;
/** Peers that dialled us before we have applied the entry that adds them. */
const INTRODUCED_PEERS_MAX = 16;
const SNAPSHOTS_INCOMING_MAX = 2;
const MS_PER_SECOND = 1000;

export interface TlsPeerTransportOptions {
  readonly id: MemberId;
  readonly clusterId: bigint;
  /** `--listen-peer-urls`; port 0 takes any free one, see `listening`. */
  readonly listenUrls: readonly string[];
  /** `--initial-advertise-peer-urls`: told to peers that do not know this member yet. */
  readonly advertiseUrls: readonly string[];
  readonly tls?: PeerTls | undefined;
  readonly electionTimeoutMs: number;
  /** Peers are dialled from it. */
  readonly localAddress?: string | undefined;
  readonly limits?: Partial<PeerLimits>;
  readonly metrics?: PeerMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export class TlsPeerTransport implements PeerTransport {
  readonly #options: TlsPeerTransportOptions;
  readonly #settings: PeerSettings;
  readonly #requests = new RequestHandlers();
  readonly #abort = new AbortController();
  readonly #listener: PeerListener;
  readonly #inbound = new Set<InboundConnection>();
  readonly #links = new Map<MemberId, PeerLink>();
  readonly #introduced = new Set<MemberId>();
  readonly #instruments = new Map<MemberId, PeerInstruments>();
  readonly #sendingSnapshots = new Set<MemberId>();
  readonly #messageHandlers = new Set<(message: Message) => void>();
  readonly #unreachableHandlers = new Set<(id: MemberId) => void>();
  readonly #refusedHandlers = new Set<(id: MemberId) => void>();
  readonly #removedHandlers = new Set<(by: MemberId) => void>();
  readonly #unreachable = new Set<MemberId>();
  #removed: ReadonlySet<MemberId> = new Set();
  #snapshotHandler: SnapshotHandler | undefined;
  #snapshotsIncoming = 0;
  #tls: PeerTls | undefined;

  constructor(options: TlsPeerTransportOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#settings = {
      clock: options.clock,
      random: options.random,
      log: options.log,
      limits: { ...limitsFor(options.electionTimeoutMs), ...options.limits },
      localAddress: options.localAddress,
      tls: () => this.#tls,
    };
    const host = this.#host();
    this.#listener = new PeerListener(options.listenUrls, this.#settings, (socket) =>
      this.#accept(socket, host),
    );
  }

  /** The URLs that are really listened on. */
  get listening(): string[] {
    return this.#listener.urls;
  }

  start(): Promise<void> {
    return this.#listener.start();
  }

  setPeers(peers: readonly Peer[]): void {
    if (this.#abort.signal.aborted) return;
    const wanted = new Map(peers.map((peer) => [peer.id, peer]));
    for (const [id, link] of this.#links) {
      const peer = wanted.get(id);
      const keep = peer === undefined ? this.#introduced.has(id) : sameUrls(peer.urls, link.urls);
      if (keep) continue;
      link.close();
      this.#links.delete(id);
    }
    for (const { id, urls } of peers) {
      assert(id !== this.#options.id, 'a member is no peer of its own');
      this.#introduced.delete(id);
      if (!this.#links.has(id)) this.#link(id, urls);
    }
    for (const inbound of this.#inbound) {
      // Who was a peer and is none any more is heard no more; probes and strangers stay.
      if (this.#removed.has(inbound.from)) inbound.connection.close(removedError());
    }
  }

  setRemoved(ids: readonly MemberId[]): void {
    this.#removed = new Set(ids);
    for (const id of ids) {
      this.#introduced.delete(id);
      this.#links.get(id)?.close();
      this.#links.delete(id);
    }
    for (const inbound of this.#inbound) {
      if (this.#removed.has(inbound.from)) inbound.connection.close(removedError());
    }
  }

  send(messages: readonly Message[]): void {
    for (const message of messages) {
      const link = this.#links.get(message.to);
      if (link === undefined || !link.send(message)) this.#reportUnreachable(message.to);
    }
  }

  onMessage(handler: (message: Message) => void): Disposable {
    return register(this.#messageHandlers, handler);
  }

  onUnreachable(handler: (id: MemberId) => void): Disposable {
    return register(this.#unreachableHandlers, handler);
  }

  onRefused(handler: (id: MemberId) => void): Disposable {
    return register(this.#refusedHandlers, handler);
  }

  onRemoved(handler: (by: MemberId) => void): Disposable {
    return register(this.#removedHandlers, handler);
  }

  request(
    to: MemberId,
    kind: string,
    payload: Uint8Array,
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<Uint8Array> {
    const link = this.#links.get(to);
    return link === undefined ? Promise.reject(unknownPeer(to)) : link.request(kind, payload, timeoutMs);
  }

  handle(kind: string, handler: RequestHandler, { anonymous = false } = {}): Disposable {
    return this.#requests.add(kind, handler, anonymous);
  }

  async sendSnapshot(
    to: MemberId,
    transfer: SnapshotTransfer,
    chunks: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const link = this.#links.get(to);
    if (link === undefined) throw unknownPeer(to);
    if (this.#sendingSnapshots.has(to)) {
      throw new PeerError('Refused', `a snapshot is already on its way to member ${to.toString(16)}`);
    }
    this.#sendingSnapshots.add(to);
    const instruments = this.#instrumentsOf(to);
    const startedMs = this.#settings.clock.monotonicMs();
    instruments?.snapshotsSending.add(1);
    try {
      await sendSnapshot(
        link.url,
        this.#hello('snapshot', to),
        this.#settings,
        transfer,
        chunks,
        (bytes) => instruments?.sentBytes.inc(bytes),
        this.#abort.signal,
      );
      instruments?.snapshotsSent.inc();
    } catch (error) {
      instruments?.snapshotSendFailures.inc();
      throw error;
    } finally {
      instruments?.snapshotsSending.add(-1);
      instruments?.snapshotSendSeconds.observe(this.#secondsSince(startedMs));
      this.#sendingSnapshots.delete(to);
    }
  }

  onSnapshot(handler: SnapshotHandler): Disposable {
    this.#snapshotHandler = handler;
    return toDisposable(() => {
      if (this.#snapshotHandler === handler) this.#snapshotHandler = undefined;
    });
  }

  status(id: MemberId): PeerStatus | undefined {
    return this.#links.get(id)?.status;
  }

  /** New connections use these; open ones keep theirs until they end. */
  renewCertificates(tls: PeerTls): void {
    this.#listener.renewCertificates(tls);
    this.#tls = tls;
  }

  async close(): Promise<void> {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
    for (const inbound of this.#inbound)
      inbound.connection.close(new PeerError('Closed', 'the transport was closed'));
    await this.#listener.close();
  }

  #accept(socket: Socket, host: Host): void {
    if (this.#abort.signal.aborted || this.#inbound.size >= INBOUND_CONNECTIONS_MAX) {
      socket.destroy();
      return;
    }
    const inbound = new InboundConnection(socket, host, (self) => this.#inbound.delete(self));
    if (!inbound.connection.closed) this.#inbound.add(inbound);
  }

  #host(): Host {
    return {
      id: this.#options.id,
      clusterId: this.#options.clusterId,
      settings: this.#settings,
      requests: this.#requests,
      isRemoved: (id) => this.#removed.has(id),
      introduce: (hello) => this.#introduce(hello),
      snapshotHandler: () =>
        this.#snapshotsIncoming < SNAPSHOTS_INCOMING_MAX ? this.#countedSnapshotHandler() : undefined,
      onMessage: (message) => {
        for (const handler of this.#messageHandlers) handler(message);
      },
      onBytes: (from, bytes) => {
        const link = this.#links.get(from);
        if (link !== undefined) link.bytesHeard += bytes;
        this.#instrumentsOf(from)?.receivedBytes.inc(bytes);
      },
      onSnapshotDone: (from, ok) => {
        const instruments = this.#instrumentsOf(from);
        (ok ? instruments?.snapshotsReceived : instruments?.snapshotReceiveFailures)?.inc();
      },
      onReceiveFailure: (from) => this.#instrumentsOf(from)?.receivedFailures.inc(),
    };
  }

  #secondsSince(startedMs: number): number {
    return (this.#settings.clock.monotonicMs() - startedMs) / MS_PER_SECOND;
  }

  #countedSnapshotHandler(): SnapshotHandler | undefined {
    const handler = this.#snapshotHandler;
    if (handler === undefined) return undefined;
    return async (from, transfer, chunks) => {
      const instruments = this.#instrumentsOf(from);
      const startedMs = this.#settings.clock.monotonicMs();
      this.#snapshotsIncoming += 1;
      instruments?.snapshotsReceiving.add(1);
      try {
        await handler(from, transfer, chunks);
      } finally {
        this.#snapshotsIncoming -= 1;
        instruments?.snapshotsReceiving.add(-1);
        instruments?.snapshotReceiveSeconds.observe(this.#secondsSince(startedMs));
      }
    };
  }

  /**
   * A member that was down may be dialled by one that it never heard of, even by the leader, and has to answer
   * it to catch up. What it says of its address serves until the entry that adds it is applied here.
   */
  #introduce(hello: Hello): boolean {
    for (const inbound of this.#inbound) {
      // A peer that dials again has lost its old connection, whether we noticed or not.
      if (inbound.from === hello.from && inbound.purpose === 'stream')
        inbound.connection.close(new PeerError('Closed', 'the peer dialled again'));
    }
    const link = this.#links.get(hello.from);
    // It is there: waiting any longer before the next attempt would only delay our answers to it.
    link?.dialNow();
    if (link !== undefined) return true;
    if (this.#introduced.size >= INTRODUCED_PEERS_MAX) return false;
    const urls = hello.urls.filter(isPeerUrl);
    if (urls.length === 0) return true;
    this.#introduced.add(hello.from);
    this.#link(hello.from, urls);
    return true;
  }

  #link(id: MemberId, urls: readonly string[]): void {
    const link = new PeerLink({
      id,
      urls,
      settings: this.#settings,
      hello: this.#hello('stream', id),
      instruments: this.#instrumentsOf(id),
      events: {
        onUnreachable: () => this.#reportUnreachable(id),
        onRefused: () => {
          for (const handler of this.#refusedHandlers) handler(id);
        },
        onRemoved: () => {
          for (const handler of this.#removedHandlers) handler(id);
        },
      },
    });
    this.#links.set(id, link);
  }

  #hello(purpose: Purpose, to: MemberId): Hello {
    const { id, clusterId, advertiseUrls } = this.#options;
    return { purpose, clusterId, from: id, to, urls: advertiseUrls };
  }

  #instrumentsOf(id: MemberId): PeerInstruments | undefined {
    const { metrics } = this.#options;
    if (metrics === undefined) return undefined;
    const known = this.#instruments.get(id);
    if (known !== undefined) return known;
    const made = metrics.of(id);
    this.#instruments.set(id, made);
    return made;
  }

  #reportUnreachable(id: MemberId): void {
    if (this.#unreachable.size === 0) {
      queueMicrotask(() => {
        const ids = [...this.#unreachable];
        this.#unreachable.clear();
        for (const one of ids) for (const handler of this.#unreachableHandlers) handler(one);
      });
    }
    this.#unreachable.add(id);
  }
}

const register = <T>(handlers: Set<T>, handler: T): Disposable => {
  handlers.add(handler);
  return toDisposable(() => handlers.delete(handler));
};

const sameUrls = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join();
const unknownPeer = (id: MemberId): PeerError =>
  new PeerError('Unreachable', `member ${id.toString(16)} is not a peer of this member`);
const removedError = (): PeerError => new PeerError('Refused', 'the member was removed from the cluster');

const isPeerUrl = (url: string): boolean => {
  try {
    addressOf(url);
    return true;
  } catch (error) {
    if (error instanceof PeerError) return false;
    throw error;
  }
};
