import type { Disposable } from '../../base/disposable.ts';
import type { Message } from '../../raft/messages.ts';
import type { MemberId } from '../../raft/types.ts';
import { ByteReader } from './bytes.ts';
import { messageBytesMax, writeMessage } from './codec.ts';
import type { Connection } from './connection.ts';
import { dial, RefusedByPeer } from './dial.ts';
import { FRAME, FRAME_BYTES_MAX } from './frame.ts';
import type { Hello } from './hello.ts';
import type { PeerInstruments } from './metrics.ts';
import { PendingRequests } from './requests.ts';
import type { PeerSettings } from './settings.ts';
import { PeerError, type PeerStatus } from './transport.ts';

/** Weight of the newest round trip, as TCP smooths its own (RFC 6298). */
const RTT_WEIGHT = 1 / 8;
/** As etcd's prober: a second between two clocks is worth a line. */
const CLOCK_DRIFT_MS_MAX = 1000;

export interface LinkEvents {
  onUnreachable(): void;
  /** See `PeerTransport.onRefused`. */
  onRefused(): void;
  onRemoved(): void;
}

const isConnectionRefused = ({ cause }: Error): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';

export interface LinkOptions {
  readonly id: MemberId;
  readonly urls: readonly string[];
  readonly settings: PeerSettings;
  readonly hello: Hello;
  readonly events: LinkEvents;
  readonly instruments: PeerInstruments | undefined;
}

/**
 * The way to one peer: dialled by us, dialled again when it breaks, and the only connection on which this
 * member sends to that peer.
 */
export class PeerLink {
  readonly urls: readonly string[];
  /** Received from this peer on connections that it dialled. */
  bytesHeard = 0;
  readonly #options: LinkOptions;
  readonly #abort = new AbortController();
  readonly #requests: PendingRequests;
  #connection: Connection | undefined;
  #retry: Disposable | undefined;
  #attempts = 0;
  /** Addresses that refused since the connection broke; undefined when nothing follows from a refusal. */
  #refusals: number | undefined;
  #lastFailure = '';
  readonly #loggedFailures = new Map<string, string>();
  #activeSinceMs: number | undefined;
  #rttMs: number | undefined;
  #pingSentMs = 0;
  #pingNumber = 0;
  #isDriftHigh = false;
  #bytesSent = 0;
  #bytesReceived = 0;
  #droppedCount = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.urls = options.urls;
    this.#requests = new PendingRequests(options.settings.clock, options.settings.limits.requestsPendingMax);
    this.#dial();
  }

  get status(): PeerStatus {
    return {
      id: this.#options.id,
      activeSinceMs: this.#activeSinceMs,
      rttMs: this.#rttMs,
      bytesSent: this.#bytesSent,
      bytesReceived: this.#bytesReceived + this.bytesHeard,
      droppedCount: this.#droppedCount,
    };
  }

  /** The address that answered last, or the next one to try. */
  get url(): string {
    return this.urls[this.#attempts % this.urls.length] ?? '';
  }

  /** False when the message was dropped. */
  send(message: Message): boolean {
    const connection = this.#connection;
    if (connection === undefined || !connection.hasRoom || this.#isTooLarge(message)) {
      this.#droppedCount += 1;
      this.#options.instruments?.sentFailures.inc();
      return false;
    }
    this.#count(connection.frame(FRAME.message, (writer) => writeMessage(writer, message)));
    return true;
  }

  request(kind: string, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const connection = this.#connection;
    if (connection === undefined) {
      const why = this.#lastFailure === '' ? 'it is being connected' : this.#lastFailure;
      return Promise.reject(new PeerError('Unreachable', `member ${this.#name} is not connected: ${why}`));
    }
    return this.#requests.ask(connection, kind, payload, timeoutMs);
  }

  /** Ends the pause before the next attempt, if there is one. */
  dialNow(): void {
    if (this.#retry === undefined || this.#abort.signal.aborted) return;
    this.#retry.dispose();
    this.#dial();
  }

  close(): void {
    this.#abort.abort();
    this.#retry?.dispose();
    const error = new PeerError('Closed', 'the way to this peer was closed');
    this.#connection?.close(error);
    this.#requests.rejectAll(error);
  }

  /** The other side would hang up, we would dial and send it again, for ever. */
  #isTooLarge(message: Message): boolean {
    const bytes = messageBytesMax(message);
    if (bytes < FRAME_BYTES_MAX) return false;
    this.#options.settings.log.write('error', 'message is too large for a peer and was dropped', {
      'peer-id': this.#name,
      kind: message.kind,
      bytes,
    });
    return true;
  }

  get #name(): string {
    return this.#options.id.toString(16);
  }

  #count(bytes: number): void {
    this.#bytesSent += bytes;
    this.#options.instruments?.sentBytes.inc(bytes);
  }

  #dial(): void {
    this.#retry = undefined;
    const { hello, settings } = this.#options;
    const url = this.url;
    const events = {
      onFrame: (type: number, payload: Buffer) => this.#onFrame(type, payload),
      onClosed: (error: PeerError) => this.#onClosed(error),
      onTick: () => this.#ping(),
    };
    dial(url, hello, settings, events, this.#abort.signal).then(
      (connection) => this.#onOpen(connection, url),
      (error: unknown) => this.#onFailure(error as Error, url),
    );
  }

  #onOpen(connection: Connection, url: string): void {
    if (this.#abort.signal.aborted) {
      connection.close(new PeerError('Closed', 'the way to this peer was closed'));
      return;
    }
    if (connection.closed) return this.#onFailure(connection.error!, url);
    this.#connection = connection;
    this.#refusals = undefined;
    this.#lastFailure = '';
    this.#loggedFailures.clear();
    this.#activeSinceMs = this.#options.settings.clock.monotonicMs();
    this.#options.instruments?.active.set(1);
    this.#options.settings.log.write('info', 'peer became active', { 'peer-id': this.#name, url });
    this.#ping();
  }

  #onFailure(error: Error, url: string): void {
    if (this.#abort.signal.aborted) return;
    this.#lastFailure = error.message;
    // The same failure again and again is one line, not a thousand.
    if (error.message !== this.#loggedFailures.get(url)) {
      this.#loggedFailures.set(url, error.message);
      this.#options.settings.log.write('warn', 'peer cannot be reached', {
        'peer-id': this.#name,
        url,
        error: error.message,
      });
    }
    if (error instanceof RefusedByPeer && error.removed) this.#options.events.onRemoved();
    this.#attempts += 1;
    this.#retryLater();
    this.#countRefusal(error);
  }

  /** Only a process that is gone refuses at all of its addresses right after it hung up. */
  #countRefusal(error: Error): void {
    if (this.#refusals === undefined) return;
    this.#refusals = isConnectionRefused(error) ? this.#refusals + 1 : undefined;
    if (this.#refusals !== this.urls.length) return;
    this.#refusals = undefined;
    this.#options.events.onRefused();
  }

  #onClosed(error: PeerError): void {
    // A connection that broke before it was taken over is reported by the dialling itself.
    if (this.#connection === undefined) return;
    this.#connection = undefined;
    this.#activeSinceMs = undefined;
    this.#requests.rejectAll(
      new PeerError('Unreachable', `the connection to member ${this.#name} broke: ${error.message}`),
    );
    this.#options.instruments?.active.set(0);
    this.#options.instruments?.disconnects.inc();
    if (this.#abort.signal.aborted) return;
    this.#lastFailure = error.message;
    this.#options.settings.log.write('warn', 'peer became inactive', {
      'peer-id': this.#name,
      error: error.message,
    });
    this.#options.events.onUnreachable();
    this.#attempts = this.urls.indexOf(this.url);
    // Silence is what a partition looks like, too.
    this.#refusals = error.reason === 'Timeout' ? undefined : 0;
    this.#retryLater();
  }

  /** Half of the delay is chance, so that members that lost each other together do not return together. */
  #retryLater(): void {
    const { clock, random, limits } = this.#options.settings;
    const rounds = Math.floor(this.#attempts / Math.max(1, this.urls.length));
    const fullMs = Math.min(limits.backoffMaxMs, limits.backoffMinMs * 2 ** Math.min(rounds, 16));
    this.#retry = clock.after(fullMs * (0.5 + random.next() / 2), () => this.#dial());
  }

  #ping(): void {
    const connection = this.#connection;
    if (connection === undefined || !connection.hasRoom) return;
    this.#pingNumber += 1;
    this.#pingSentMs = this.#options.settings.clock.monotonicMs();
    this.#count(connection.frame(FRAME.ping, (writer) => writer.varint(this.#pingNumber)));
  }

  #onFrame(type: number, payload: Buffer): void {
    this.#bytesReceived += payload.length;
    this.#options.instruments?.receivedBytes.inc(payload.length);
    switch (type) {
      case FRAME.pong:
        return this.#onPong(new ByteReader(payload));
      case FRAME.response:
      case FRAME.failure:
        return this.#requests.answer(type, payload);
      case FRAME.alive:
        return;
      default:
        throw new PeerError('Malformed', `a peer sent frame ${type} where only answers are expected`);
    }
  }

  #onPong(reader: ByteReader): void {
    const number = reader.varint();
    if (number !== this.#pingNumber) return;
    const rttMs = this.#options.settings.clock.monotonicMs() - this.#pingSentMs;
    this.#rttMs = this.#rttMs === undefined ? rttMs : this.#rttMs + (rttMs - this.#rttMs) * RTT_WEIGHT;
    this.#options.instruments?.roundTripSeconds.observe(rttMs / 1000);
    // A member of an earlier release does not tell its time.
    if (reader.remaining > 0) this.#noteDrift(reader.varint(), rttMs);
  }

  /** Leases and elections do not depend on wall clocks, but certificates do, and so do people who read logs. */
  #noteDrift(peerNowMs: number, rttMs: number): void {
    const { clock, log } = this.#options.settings;
    const driftMs = Math.abs(clock.nowMs() - rttMs / 2 - peerNowMs);
    const isHigh = driftMs > CLOCK_DRIFT_MS_MAX + rttMs;
    if (isHigh && !this.#isDriftHigh)
      log.write('warn', 'prober found high clock drift', {
        'remote-peer-id': this.#name,
        'clock-drift': `${(driftMs / 1000).toFixed(3)}s`,
        rtt: `${rttMs.toFixed(1)}ms`,
      });
    this.#isDriftHigh = isHigh;
  }
}
