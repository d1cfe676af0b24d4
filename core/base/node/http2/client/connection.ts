import type { Duplex } from 'node:stream';
import {
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  FRAME_PAYLOAD_BYTES_MAX,
  H2_ERROR,
  PREFACE,
  SETTING,
  STREAM_ID_MAX,
  WINDOW_BYTES_DEFAULT,
  frame,
  settingsPayload,
  uint32Payload,
  writeFrameHead,
} from '../frame.ts';
import { ProtocolBreach } from './protocol-breach.ts';
import { StatelessHpackDecoder, type Headers } from './hpack.ts';

const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
const HEADER_BLOCK_BYTES_MAX = 64 * 1024;
/** Calls that wait for the server to allow one more stream. */
const WAITING_STREAMS_MAX = 10_000;
const KEEPALIVE_PING = Buffer.from('pilothse', 'latin1');
const NO_PAYLOAD = Buffer.alloc(0);

/** How a stream ended. `untouched`: the server has certainly not acted on it, so anybody may send it again. */
export type StreamEnd =
  { readonly kind: 'ended' } | { readonly kind: 'failed'; readonly why: string; readonly untouched: boolean };

export interface StreamListener {
  onHeaders(headers: Headers): void;
  /** A view that is valid after the call too; the memory is shared with neighbours. */
  onData(bytes: Buffer): void;
  /** Called exactly once, last. */
  onEnd(end: StreamEnd): void;
}

export interface ConnectionEvents {
  /** The server takes no new streams (GOAWAY), or their numbers are used up; running ones may finish. */
  onDraining(): void;
  onClosed(why: string): void;
}

/** One request and its answer. */
export class ClientStream {
  readonly connection: ClientConnection;
  readonly listener: StreamListener;
  readonly head: Buffer;
  /** 0 until the head has been handed to the socket. */
  id = 0;
  sendWindowBytes = 0;
  unreportedBytes = 0;
  isPaused = false;
  readonly queue: Buffer[] = [];
  ends = false;
  endSent = false;
  closed = false;

  constructor(connection: ClientConnection, head: Buffer, listener: StreamListener) {
    this.connection = connection;
    this.head = head;
    this.listener = listener;
  }

  write(bytes: Buffer, end: boolean): void {
    if (this.closed || this.ends) return;
    if (bytes.length > 0) this.queue.push(bytes);
    this.ends = end;
    this.connection.pump(this);
  }

  /** The server may send what is left of the window, and no more until `resume`. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.connection.reportWindow(this);
  }

  /** Tells the server to forget the call. The listener hears of it as a failure. */
  cancel(why: string): void {
    this.connection.cancel(this, why);
  }
}

/**
 * The client's side of one HTTP/2 connection (RFC 9113). It exists because a unary call through node:http2 costs
 * a Duplex, a dozen events and several trips into C++; here it is a map entry and two frames, and all frames of
 * one turn of the event loop leave in one write.
 */
export class ClientConnection {
  readonly #socket: Duplex;
  readonly #events: ConnectionEvents;
  readonly #hpack = new StatelessHpackDecoder();
  readonly #streams = new Map<number, ClientStream>();
  /** Streams that wait for a number: the server allows only so many at the same time. */
  readonly #unopened = new Set<ClientStream>();
  /** Streams whose bytes a window holds back. */
  readonly #blocked = new Set<ClientStream>();
  #output: Buffer[] = [];
  #flushing = false;
  #rest: Buffer = NO_PAYLOAD;
  #block: { streamId: number; flags: number; bytes: Buffer } | undefined;
  #nextId = 1;
  #streamsMax = 100;
  #sendWindowBytes = WINDOW_BYTES_DEFAULT;
  #peerStreamWindowBytes = WINDOW_BYTES_DEFAULT;
  #unreportedBytes = 0;
  #draining = false;
  #closed = false;
  #closedWhy = 'connection closed';
  #pong: (() => void) | undefined;

  constructor(socket: Duplex, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#onBytes(chunk));
    socket.on('error', (error) => this.destroy(error.message));
    socket.on('end', () => this.destroy('the server closed the connection'));
    socket.on('close', () => this.destroy('connection closed'));
    this.#write(PREFACE);
    const wanted = settingsPayload([
      [SETTING.headerTableSize, 0],
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
    ]);
    this.#write(frame(FRAME.settings, 0, 0, wanted));
    this.#write(
      frame(FRAME.windowUpdate, 0, 0, uint32Payload(CONNECTION_WINDOW_BYTES - WINDOW_BYTES_DEFAULT)),
    );
  }

  get usable(): boolean {
    return !this.#closed && !this.#draining;
  }

  get streamCount(): number {
    return this.#streams.size + this.#unopened.size;
  }

  /** `isWhole`: the head is all that will be sent. */
  open(head: Buffer, listener: StreamListener, isWhole = false): ClientStream {
    const stream = new ClientStream(this, head, listener);
    stream.ends = stream.endSent = isWhole;
    if (!this.usable || this.#unopened.size >= WAITING_STREAMS_MAX) {
      stream.closed = true;
      const why = this.usable ? 'too many calls wait for this connection' : this.#closedWhy;
      queueMicrotask(() => listener.onEnd({ kind: 'failed', why, untouched: true }));
      return stream;
    }
    this.#unopened.add(stream);
    if (this.#streams.size < this.#streamsMax) this.#openNext();
    return stream;
  }

  /** Calls back when the server has answered; at most one ping is in progress. */
  ping(onPong: () => void): void {
    this.#pong = onPong;
    this.#write(frame(FRAME.ping, 0, 0, KEEPALIVE_PING));
  }

  cancel(stream: ClientStream, why: string): void {
    if (stream.closed) return;
    if (stream.id !== 0) this.#write(frame(FRAME.resetStream, 0, stream.id, uint32Payload(H2_ERROR.cancel)));
    this.#end(stream, { kind: 'failed', why, untouched: stream.id === 0 });
  }

  destroy(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closedWhy = why;
    for (const stream of [...this.#streams.values(), ...this.#unopened])
      this.#end(stream, { kind: 'failed', why, untouched: stream.id === 0 });
    this.#output = [];
    this.#socket.destroy();
    this.#events.onClosed(why);
  }

  /** Sends what the windows allow of what the stream has queued. */
  pump(stream: ClientStream): void {
    if (stream.closed || stream.id === 0) return;
    for (let bytes = stream.queue[0]; bytes !== undefined; bytes = stream.queue[0]) {
      const room = Math.min(stream.sendWindowBytes, this.#sendWindowBytes, FRAME_PAYLOAD_BYTES_MAX);
      if (room <= 0) {
        this.#blocked.add(stream);
        return;
      }
      const part = bytes.length <= room ? bytes : bytes.subarray(0, room);
      if (part === bytes) stream.queue.shift();
      else stream.queue[0] = bytes.subarray(room);
      stream.sendWindowBytes -= part.length;
      this.#sendWindowBytes -= part.length;
      this.#data(stream, part, stream.ends && stream.queue.length === 0);
    }
    this.#blocked.delete(stream);
    if (stream.ends && !stream.endSent) this.#data(stream, NO_PAYLOAD, true);
  }

  /** Lets the server send more, once half of the window is used. */
  reportWindow(stream: ClientStream): void {
    if (stream.isPaused || stream.closed || stream.unreportedBytes < STREAM_WINDOW_BYTES / 2) return;
    this.#write(frame(FRAME.windowUpdate, 0, stream.id, uint32Payload(stream.unreportedBytes)));
    stream.unreportedBytes = 0;
  }

  #data(stream: ClientStream, part: Buffer, end: boolean): void {
    const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    const flags = end ? FLAG.endStream : 0;
    writeFrameHead(head, 0, { length: part.length, type: FRAME.data, flags, streamId: stream.id });
    stream.endSent ||= end;
    this.#write(head);
    if (part.length > 0) this.#write(part);
  }

  #openNext(): void {
    for (const stream of this.#unopened) {
      if (this.#streams.size >= this.#streamsMax) return;
      this.#unopened.delete(stream);
      stream.id = this.#nextId;
      this.#nextId += 2;
      stream.sendWindowBytes = this.#peerStreamWindowBytes;
      this.#streams.set(stream.id, stream);
      const flags = stream.endSent ? FLAG.endHeaders | FLAG.endStream : FLAG.endHeaders;
      this.#write(frame(FRAME.headers, flags, stream.id, stream.head));
      this.pump(stream);
      if (this.#nextId > STREAM_ID_MAX - 2) this.#drain(STREAM_ID_MAX);
    }
  }

  #drain(lastStreamId: number): void {
    const first = !this.#draining;
    this.#draining = true;
    this.#closedWhy = 'the server is going away';
    const lost = [...this.#streams.values()].filter((stream) => stream.id > lastStreamId);
    for (const stream of [...lost, ...this.#unopened])
      this.#end(stream, { kind: 'failed', why: this.#closedWhy, untouched: true });
    if (first) this.#events.onDraining();
    this.#closeWhenDrained();
  }

  #closeWhenDrained(): void {
    if (this.#draining && this.streamCount === 0) this.destroy(this.#closedWhy);
  }

  #end(stream: ClientStream, end: StreamEnd): void {
    if (stream.closed) return;
    stream.closed = true;
    stream.queue.length = 0;
    this.#streams.delete(stream.id);
    this.#unopened.delete(stream);
    this.#blocked.delete(stream);
    stream.listener.onEnd(end);
    if (this.#closed) return;
    if (this.#unopened.size > 0 && !this.#draining) this.#openNext();
    this.#closeWhenDrained();
  }

  #write(bytes: Buffer): void {
    if (this.#closed) return;
    this.#output.push(bytes);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#closed || this.#output.length === 0) return;
    const output = this.#output;
    this.#output = [];
    this.#socket.write(output.length === 1 ? output[0] : Buffer.concat(output));
  }

  #onBytes(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      this.#parse(chunk);
    } catch (error) {
      if (!(error instanceof ProtocolBreach)) throw error;
      this.#write(frame(FRAME.goaway, 0, 0, Buffer.concat([uint32Payload(0), uint32Payload(error.code)])));
      this.#flush();
      this.destroy(`the server broke the protocol: ${error.message}`);
    }
  }

  #parse(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      if (length > FRAME_PAYLOAD_BYTES_MAX)
        throw new ProtocolBreach('frame is too large', H2_ERROR.frameSizeError);
      const start = at + FRAME_HEADER_BYTES;
      if (bytes.length - start < length) break;
      const streamId = bytes.readUInt32BE(at + 5) & STREAM_ID_MAX;
      const type = bytes[at + 3]!;
      const flags = bytes[at + 4]!;
      at = start + length;
      this.#onFrame(type, flags, streamId, bytes.subarray(start, at));
      if (this.#closed) return;
    }
    this.#rest = at < bytes.length ? bytes.subarray(at) : NO_PAYLOAD;
  }

  #onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (this.#block !== undefined && type !== FRAME.continuation)
      throw new ProtocolBreach('a header block is interrupted');
    switch (type) {
      case FRAME.data:
        return this.#onData(flags, streamId, payload);
      case FRAME.headers: {
        const body = unpad(flags, payload);
        const bytes = (flags & FLAG.priority) === 0 ? body : body.subarray(5);
        if ((flags & FLAG.endHeaders) !== 0) return this.#onBlock(flags, streamId, bytes);
        this.#block = { streamId, flags, bytes: Buffer.from(bytes) };
        return;
      }
      case FRAME.continuation:
        return this.#onContinuation(flags, streamId, payload);
      case FRAME.resetStream:
        return this.#onReset(streamId, payload);
      case FRAME.settings:
        return this.#onSettings(flags, payload);
      case FRAME.ping:
        if ((flags & FLAG.ack) === 0) return this.#write(frame(FRAME.ping, FLAG.ack, 0, payload));
        this.#pong?.();
        this.#pong = undefined;
        return;
      case FRAME.goaway:
        if (payload.length < 8) throw new ProtocolBreach('GOAWAY is cut', H2_ERROR.frameSizeError);
        return this.#drain(payload.readUInt32BE(0) & STREAM_ID_MAX);
      case FRAME.windowUpdate:
        return this.#onWindowUpdate(streamId, payload);
      default:
    }
  }

  #onData(flags: number, streamId: number, payload: Buffer): void {
    this.#unreportedBytes += payload.length;
    if (this.#unreportedBytes >= CONNECTION_WINDOW_BYTES / 2) {
      this.#write(frame(FRAME.windowUpdate, 0, 0, uint32Payload(this.#unreportedBytes)));
      this.#unreportedBytes = 0;
    }
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    const ends = (flags & FLAG.endStream) !== 0;
    stream.unreportedBytes += payload.length;
    if (!ends) this.reportWindow(stream);
    const body = unpad(flags, payload);
    if (body.length > 0) stream.listener.onData(body);
    if (ends) this.#remoteEnd(stream);
  }

  #onContinuation(flags: number, streamId: number, payload: Buffer): void {
    const block = this.#block;
    if (block === undefined || block.streamId !== streamId)
      throw new ProtocolBreach('CONTINUATION continues nothing');
    block.bytes = Buffer.concat([block.bytes, payload]);
    if (block.bytes.length > HEADER_BLOCK_BYTES_MAX) throw new ProtocolBreach('header block is too large');
    if ((flags & FLAG.endHeaders) === 0) return;
    this.#block = undefined;
    this.#onBlock(block.flags, streamId, block.bytes);
  }

  #onBlock(flags: number, streamId: number, bytes: Buffer): void {
    const headers = this.#hpack.decode(bytes);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    stream.listener.onHeaders(headers);
    if ((flags & FLAG.endStream) !== 0) this.#remoteEnd(stream);
  }

  #remoteEnd(stream: ClientStream): void {
    // An answer that came before all was asked (an error, say): the rest is not wanted any more.
    if (!stream.closed && !stream.endSent)
      this.#write(frame(FRAME.resetStream, 0, stream.id, uint32Payload(H2_ERROR.cancel)));
    this.#end(stream, { kind: 'ended' });
  }

  #onReset(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ProtocolBreach('RST_STREAM has four bytes', H2_ERROR.frameSizeError);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    const code = payload.readUInt32BE(0);
    const untouched = code === H2_ERROR.refusedStream;
    this.#end(stream, { kind: 'failed', why: `the server reset the call (code ${code})`, untouched });
  }

  #onSettings(flags: number, payload: Buffer): void {
    if ((flags & FLAG.ack) !== 0) return;
    if (payload.length % 6 !== 0) throw new ProtocolBreach('SETTINGS is cut', H2_ERROR.frameSizeError);
    for (let at = 0; at < payload.length; at += 6) {
      const id = payload.readUInt16BE(at);
      const value = payload.readUInt32BE(at + 2);
      if (id === SETTING.maxConcurrentStreams) this.#streamsMax = value;
      if (id !== SETTING.initialWindowSize) continue;
      const change = value - this.#peerStreamWindowBytes;
      this.#peerStreamWindowBytes = value;
      for (const stream of this.#streams.values()) stream.sendWindowBytes += change;
    }
    this.#write(frame(FRAME.settings, FLAG.ack, 0, NO_PAYLOAD));
    if (!this.#draining) this.#openNext();
    this.#pumpBlocked();
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    if (payload.length !== 4)
      throw new ProtocolBreach('WINDOW_UPDATE has four bytes', H2_ERROR.frameSizeError);
    const bytes = payload.readUInt32BE(0) & STREAM_ID_MAX;
    const stream = this.#streams.get(streamId);
    if (streamId === 0) this.#sendWindowBytes += bytes;
    else if (stream !== undefined) stream.sendWindowBytes += bytes;
    this.#pumpBlocked();
  }

  #pumpBlocked(): void {
    for (const stream of [...this.#blocked]) this.pump(stream);
  }
}

const unpad = (flags: number, payload: Buffer): Buffer => {
  if ((flags & FLAG.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined || padding >= payload.length)
    throw new ProtocolBreach('padding is longer than its frame');
  return payload.subarray(1, payload.length - padding);
};
