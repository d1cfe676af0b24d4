import type { Duplex } from 'node:stream';
import type { Clock } from '../../../clock.ts';
import {
  FLAG,
  FRAME,
  FRAME_PAYLOAD_BYTES_MAX,
  H2_ERROR,
  SETTING,
  STREAM_ID_MAX,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_MAX,
  frame,
  settingsPayload,
  uint32Payload,
} from '../frame.ts';
import type { H2ErrorCode } from '../frame.ts';
import { FrameParser } from './frame-parser.ts';
import { FloodGuard } from './flood-guard.ts';
import { HpackDecoder, HpackError } from '../hpack.ts';
import { Output } from './output.ts';
import { ProtocolBreach, breach } from './protocol-breach.ts';
import { Sender } from './sender.ts';
import type { StallBudget } from './stall-budget.ts';
import { Http2Stream } from './stream.ts';

/** How much a peer may send on all streams together before we have seen it. */
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
const STALL_TIMEOUT_MS_DEFAULT = 60_000;
/** Resets that the peer's own doing called for; a server that ends a call of its own accord uses others. */
const PEER_FAULTS: ReadonlySet<H2ErrorCode> = new Set([
  H2_ERROR.protocolError,
  H2_ERROR.flowControlError,
  H2_ERROR.streamClosed,
  H2_ERROR.frameSizeError,
  H2_ERROR.refusedStream,
  H2_ERROR.enhanceYourCalm,
]);
const NO_PAYLOAD = Buffer.alloc(0);
const GOODBYE = 'graceful_stop';
const GOODBYE_PING = Buffer.from('goodbye!', 'latin1');
const KEEPALIVE_PING = Buffer.from('keepaliv', 'latin1');

export interface ConnectionOptions {
  readonly streamsMax: number;
  /** How much a peer may send on one stream before its owner has taken it. */
  readonly streamWindowBytes: number;
  /** One header list, and one header block over all its continuations; more ends the connection. */
  readonly headerListBytesMax: number;
  /** The limit that the peer is told, where the owner of a stream answers what is above it on its own. */
  readonly headerListBytesTold?: number;
  /** Clients that ping more often get GOAWAY "too_many_pings"; absent or 0: they may. */
  readonly pingIntervalMinMs?: number;
  onStream(stream: Http2Stream): void;
  /** The last stream that was open is over. */
  onIdle?(): void;
  /** Once, when the socket is gone; every stream has been closed before. */
  onClosed(): void;
  readonly clock: Clock;
  /** A stream whose peer takes none of what waits for it is reset after this long. */
  readonly stallTimeoutMs?: number;
  /** Shared by the connections of a listener. */
  readonly budget?: StallBudget;
}

/**
 * The server's side of one HTTP/2 connection (RFC 9113) on any byte stream: TLS or plain. It exists because a
 * unary call through node:http2 costs about 50 us of CPU, most of it in one Duplex a stream and a call into C++
 * a frame; here a call is a map entry, and all answers of one turn of the event loop leave in one write.
 *
 * A peer that breaks the protocol gets GOAWAY and loses this connection, never more.
 */
export class Http2Connection {
  readonly #socket: Duplex;
  readonly #options: ConnectionOptions;
  readonly #parser: FrameParser;
  readonly #hpack: HpackDecoder;
  readonly #streams = new Map<number, Http2Stream>();
  readonly #output: Output;
  readonly #flood: FloodGuard;
  /** Streams send through it. */
  readonly sender: Sender;
  #closed = false;
  #draining = false;
  #lastStreamId = 0;
  /** Once told in a GOAWAY: the peer sends later streams again elsewhere, so they must not be served here. */
  #lastServedId = STREAM_ID_MAX;
  #block: { streamId: number; flags: number; parts: Buffer[]; bytes: number } | undefined;
  #receiveWindowBytes = CONNECTION_WINDOW_BYTES;
  #unreportedBytes = 0;
  #peerStreamWindowBytes = WINDOW_BYTES_DEFAULT;
  #awaitsPong = false;
  #lingering = 0;

  constructor(socket: Duplex, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#hpack = new HpackDecoder({ listBytesMax: options.headerListBytesMax });
    this.#output = new Output(socket, () => this.sender.pumpWaiting());
    const { clock, budget, stallTimeoutMs = STALL_TIMEOUT_MS_DEFAULT } = options;
    this.#flood = new FloodGuard(() => clock.monotonicMs(), options.pingIntervalMinMs);
    this.sender = new Sender({
      output: this.#output,
      flood: this.#flood,
      clock,
      stallTimeoutMs,
      budget,
      onStalled: (stream, isDeaf) => (isDeaf ? this.destroy() : stream.reset(H2_ERROR.cancel)),
      onEvicted: () => this.destroy(),
      onEnded: (stream) => this.#localEnd(stream),
    });
    this.#parser = new FrameParser((type, flags, streamId, payload) =>
      this.#onFrame(type, flags, streamId, payload),
    );
    socket.on('data', (chunk: Buffer) => this.#onBytes(chunk));
    socket.on('end', () => this.destroy());
    // What went wrong with a peer's socket is the peer's story; 'close' follows and ends ours.
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.#onSocketClosed());
    this.#output.write(
      frame(
        FRAME.settings,
        0,
        0,
        settingsPayload([
          [SETTING.maxConcurrentStreams, Math.min(options.streamsMax, 0xffffffff)],
          [SETTING.initialWindowSize, options.streamWindowBytes],
          [SETTING.maxHeaderListSize, options.headerListBytesTold ?? options.headerListBytesMax],
        ]),
      ),
    );
    this.#output.write(
      frame(FRAME.windowUpdate, 0, 0, uint32Payload(CONNECTION_WINDOW_BYTES - WINDOW_BYTES_DEFAULT)),
    );
  }

  /** Without those that are answered. */
  get streamCount(): number {
    return this.#streams.size - this.#lingering;
  }

  /** No new streams; those that run may finish, then the connection closes. */
  drain(): void {
    if (this.#draining || this.#closed) return;
    this.#draining = true;
    // First a GOAWAY that refuses nothing: what the peer sent before it heard of it is still served.
    this.#goaway(STREAM_ID_MAX, H2_ERROR.noError, GOODBYE);
    this.#output.write(frame(FRAME.ping, 0, 0, GOODBYE_PING));
  }

  /** A ping of our own; `awaitsPong` until it is answered. */
  ping(): void {
    this.#awaitsPong = true;
    this.#output.write(frame(FRAME.ping, 0, 0, KEEPALIVE_PING));
  }

  get awaitsPong(): boolean {
    return this.#awaitsPong;
  }

  /** Says goodbye and ends the connection without waiting for an answer; what the peer sent meanwhile it sends again. */
  close(): void {
    if (!this.#closed) this.#fail(H2_ERROR.noError, '');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  resetStream(stream: Http2Stream, code: H2ErrorCode): void {
    this.#output.write(frame(FRAME.resetStream, 0, stream.id, uint32Payload(code)));
    this.#forget(stream, 'reset');
    if (PEER_FAULTS.has(code)) this.#countBrokenOff();
  }

  #countBrokenOff(): void {
    if (!this.#flood.brokenOff()) this.#fail(H2_ERROR.enhanceYourCalm, 'too many streams are reset');
  }

  giveStreamCredit(stream: Http2Stream, bytes: number): void {
    stream.unreportedBytes += bytes;
    if (stream.unreportedBytes < this.#options.streamWindowBytes / 2) return;
    this.#output.write(frame(FRAME.windowUpdate, 0, stream.id, uint32Payload(stream.unreportedBytes)));
    stream.receiveWindowBytes += stream.unreportedBytes;
    stream.unreportedBytes = 0;
  }

  #localEnd(stream: Http2Stream): void {
    if (!stream.remoteEnded && stream.lingers) {
      stream.answered = true;
      this.#lingering += 1;
      stream.owner?.onDrain();
      if (this.streamCount === 0) this.#options.onIdle?.();
      return;
    }
    // A peer that is still sending must be told to stop; NO_ERROR says the answer stands.
    if (!stream.remoteEnded)
      this.#output.write(frame(FRAME.resetStream, 0, stream.id, uint32Payload(H2_ERROR.noError)));
    this.#forget(stream, 'done');
  }

  #forget(stream: Http2Stream, how: 'done' | 'reset'): void {
    if (stream.closed) return;
    stream.closed = true;
    if (stream.answered) this.#lingering -= 1;
    this.#streams.delete(stream.id);
    this.sender.forget(stream);
    stream.owner?.onClosed(how);
    if (this.#streams.size > 0) return;
    this.#options.onIdle?.();
    // With its number, so that the peer knows which of its requests were not served.
    if (this.#draining) this.#fail(H2_ERROR.noError, GOODBYE);
  }

  #onBytes(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      if (error instanceof ProtocolBreach) this.#fail(error.code, error.message);
      else if (error instanceof HpackError) this.#fail(H2_ERROR.compressionError, error.message);
      else throw error;
    }
  }

  #onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (this.#closed) return;
    if (this.#block !== undefined && (type !== FRAME.continuation || streamId !== this.#block.streamId))
      throw breach('a header block is interrupted');
    switch (type) {
      case FRAME.data:
        return this.#onData(flags, streamId, payload);
      case FRAME.headers:
        return this.#onHeaders(flags, streamId, payload);
      case FRAME.continuation:
        return this.#onContinuation(flags, payload);
      case FRAME.resetStream:
        return this.#onReset(streamId, payload);
      case FRAME.settings:
        return this.#onSettings(flags, streamId, payload);
      case FRAME.ping:
        return this.#onPing(flags, streamId, payload);
      case FRAME.windowUpdate:
        return this.#onWindowUpdate(streamId, payload);
      case FRAME.pushPromise:
        throw breach('a client cannot push');
      case FRAME.goaway:
        this.drain();
        return;
      default:
        // PRIORITY, and frames of extensions, are ignored; they still count as work.
        this.#flood.cheapFrame();
    }
  }

  #onData(flags: number, streamId: number, payload: Buffer): void {
    this.#requireKnown(streamId);
    this.#receiveWindowBytes -= payload.length;
    if (this.#receiveWindowBytes < 0) throw breach('connection window exceeded', H2_ERROR.flowControlError);
    this.#giveConnectionCredit(payload.length);
    const stream = this.#streams.get(streamId);
    // Already answered or reset: what was on its way may still arrive.
    if (stream === undefined) return this.#flood.cheapFrame();
    if (stream.remoteEnded) return this.resetStream(stream, H2_ERROR.streamClosed);
    stream.receiveWindowBytes -= payload.length;
    if (stream.receiveWindowBytes < 0) return this.resetStream(stream, H2_ERROR.flowControlError);
    const body = unpad(flags, payload);
    if (body.length !== payload.length) this.giveStreamCredit(stream, payload.length - body.length);
    if (body.length > 0) stream.owner?.onData(body);
    else if ((flags & FLAG.endStream) === 0) this.#flood.cheapFrame();
    if ((flags & FLAG.endStream) !== 0) this.#remoteEnd(stream);
  }

  #onHeaders(flags: number, streamId: number, payload: Buffer): void {
    if (streamId % 2 === 0) throw breach('a client opens odd streams');
    let fragment = unpad(flags, payload);
    if ((flags & FLAG.priority) !== 0) {
      if (fragment.length < 5) throw breach('HEADERS is too short', H2_ERROR.frameSizeError);
      fragment = fragment.subarray(5);
    }
    if ((flags & FLAG.endHeaders) !== 0) return this.#onBlock(flags, streamId, fragment);
    this.#block = { streamId, flags, parts: [Buffer.from(fragment)], bytes: fragment.length };
  }

  #onContinuation(flags: number, payload: Buffer): void {
    const block = this.#block;
    if (block === undefined) throw breach('CONTINUATION continues nothing');
    this.#flood.cheapFrame();
    block.bytes += payload.length;
    if (block.bytes > this.#options.headerListBytesMax)
      throw breach('header block is too large', H2_ERROR.enhanceYourCalm);
    block.parts.push(Buffer.from(payload));
    if ((flags & FLAG.endHeaders) === 0) return;
    this.#block = undefined;
    this.#onBlock(block.flags, block.streamId, Buffer.concat(block.parts));
  }

  #onBlock(flags: number, streamId: number, bytes: Buffer): void {
    // Decoded whatever becomes of the stream: the table is shared by all of them.
    const headers = this.#hpack.decode(bytes);
    const { isMalformed, listBytes } = this.#hpack;
    const endStream = (flags & FLAG.endStream) !== 0;
    const known = this.#streams.get(streamId);
    if (known !== undefined) {
      if (!endStream || known.remoteEnded || isMalformed)
        return this.resetStream(known, H2_ERROR.protocolError);
      return this.#remoteEnd(known);
    }
    if (streamId <= this.#lastStreamId) throw breach('stream id was used before', H2_ERROR.streamClosed);
    if (streamId > this.#lastServedId) return;
    this.#lastStreamId = streamId;
    const stream = new Http2Stream(this, streamId, {
      headers,
      headerBytes: listBytes,
      sendWindowBytes: this.#peerStreamWindowBytes,
      receiveWindowBytes: this.#options.streamWindowBytes,
    });
    if (this.#streams.size >= this.#options.streamsMax) {
      this.#flood.cheapFrame();
      return this.resetStream(stream, H2_ERROR.refusedStream);
    }
    this.#streams.set(streamId, stream);
    if (isMalformed || stream.header(':method') === undefined || stream.header(':path') === undefined)
      return this.resetStream(stream, H2_ERROR.protocolError);
    stream.remoteEnded = endStream;
    this.#options.onStream(stream);
    if (endStream && !stream.closed) stream.owner?.onEnd();
  }

  #remoteEnd(stream: Http2Stream): void {
    if (stream.closed) return;
    stream.remoteEnded = true;
    stream.owner?.onEnd();
    if (stream.answered) this.#forget(stream, 'done');
  }

  #onReset(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) throw breach('RST_STREAM has four bytes', H2_ERROR.frameSizeError);
    this.#requireKnown(streamId);
    this.#flood.cheapFrame();
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    const isUnanswered = !stream.answered;
    this.#forget(stream, 'reset');
    if (isUnanswered) this.#countBrokenOff();
  }

  #onSettings(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw breach('SETTINGS belongs to the connection');
    this.#flood.cheapFrame();
    if ((flags & FLAG.ack) !== 0) return;
    if (payload.length % 6 !== 0) throw breach('SETTINGS is cut', H2_ERROR.frameSizeError);
    for (let at = 0; at < payload.length; at += 6)
      this.#onSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.#output.write(frame(FRAME.settings, FLAG.ack, 0, NO_PAYLOAD));
    this.sender.pumpWaiting();
  }

  #onSetting(id: number, value: number): void {
    if (id === SETTING.initialWindowSize) {
      if (value > WINDOW_BYTES_MAX) throw breach('initial window is too large', H2_ERROR.flowControlError);
      const change = value - this.#peerStreamWindowBytes;
      this.#peerStreamWindowBytes = value;
      for (const stream of this.#streams.values()) stream.sendWindowBytes += change;
    } else if (id === SETTING.maxFrameSize) {
      // Only checked: larger frames than everybody must take would only delay other streams.
      if (value < FRAME_PAYLOAD_BYTES_MAX || value > 0xffffff) throw breach('frame size is out of range');
    }
  }

  #onPing(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw breach('PING belongs to the connection');
    if (payload.length !== 8) throw breach('PING has eight bytes', H2_ERROR.frameSizeError);
    this.#flood.cheapFrame();
    if ((flags & FLAG.ack) === 0) {
      this.#flood.ping(this.streamCount);
      this.#output.write(frame(FRAME.ping, FLAG.ack, 0, payload));
      return;
    }
    this.#awaitsPong = false;
    if (!this.#draining || !payload.equals(GOODBYE_PING)) return;
    this.#goaway(this.#lastStreamId, H2_ERROR.noError, GOODBYE);
    if (this.#streams.size === 0) this.#closeWhenWritten();
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) throw breach('WINDOW_UPDATE has four bytes', H2_ERROR.frameSizeError);
    this.#flood.cheapFrame();
    const bytes = payload.readUInt32BE(0) & WINDOW_BYTES_MAX;
    if (streamId === 0) return this.sender.widen(bytes);
    this.#requireKnown(streamId);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    stream.sendWindowBytes += bytes;
    if (bytes === 0) return this.resetStream(stream, H2_ERROR.protocolError);
    if (stream.sendWindowBytes > WINDOW_BYTES_MAX) return this.resetStream(stream, H2_ERROR.flowControlError);
    this.sender.widened(stream);
  }

  #giveConnectionCredit(bytes: number): void {
    this.#unreportedBytes += bytes;
    if (this.#unreportedBytes < CONNECTION_WINDOW_BYTES / 2) return;
    this.#output.write(frame(FRAME.windowUpdate, 0, 0, uint32Payload(this.#unreportedBytes)));
    this.#receiveWindowBytes += this.#unreportedBytes;
    this.#unreportedBytes = 0;
  }

  #requireKnown(streamId: number): void {
    if (streamId === 0) throw breach('the frame needs a stream');
    if (streamId > this.#lastStreamId && streamId <= this.#lastServedId)
      throw breach('the stream was never opened');
  }

  #goaway(lastStreamId: number, code: H2ErrorCode, why: string): void {
    this.#lastServedId = lastStreamId;
    this.#output.write(
      frame(
        FRAME.goaway,
        0,
        0,
        Buffer.concat([uint32Payload(lastStreamId), uint32Payload(code), Buffer.from(why)]),
      ),
    );
  }

  #fail(code: H2ErrorCode, why: string): void {
    if (this.#closed) return;
    this.#goaway(this.#lastStreamId, code, why);
    this.#closeWhenWritten();
  }

  #closeWhenWritten(): void {
    if (this.#closed) return;
    this.#output.flush();
    this.#closeStreams();
    this.#closed = true;
    this.#output.close();
    this.sender.close();
    // `end` alone would wait for the peer's end for ever.
    this.#socket.end(() => this.#socket.destroy());
  }

  #onSocketClosed(): void {
    this.#closed = true;
    this.#closeStreams();
    this.#output.close();
    this.sender.close();
    this.#options.onClosed();
  }

  #closeStreams(): void {
    for (const stream of [...this.#streams.values()]) this.#forget(stream, 'reset');
  }
}

const unpad = (flags: number, payload: Buffer): Buffer => {
  if ((flags & FLAG.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined || padding >= payload.length) throw breach('padding is longer than its frame');
  return payload.subarray(1, payload.length - padding);
};
