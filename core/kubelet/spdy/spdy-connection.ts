import { Duplex } from 'node:stream';
import { messageOf } from '../../base/errors.ts';
import {
  DATA_BYTES_MAX,
  dataFrame,
  FLAG_FIN,
  FrameReader,
  goAway,
  GOAWAY,
  ping,
  PING,
  RST_CANCEL,
  RST_REFUSED_STREAM,
  RST_STREAM,
  rstStream,
  SYN_STREAM,
  SYN_STREAM_HEADERS_AT,
  synReply,
  synStream,
  type Frame,
} from './frames.ts';
import { HeaderDecoder, HeaderEncoder, type SpdyHeaders } from './header-block.ts';

export const STREAMS_MAX = 1_024;
/** A stream whose reader is this far behind stops the connection until it has caught up. */
const BACKLOG_BYTES_MAX = 1024 * 1024;

interface Wire {
  send(frame: Buffer, done: (error?: Error | null) => void): void;
  forget(streamId: number): void;
}

/** One stream. Both directions end on their own; destroying it resets the stream at the other side. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #wire: Wire;
  #isReset = false;
  #hasInputEnded = false;
  #onDrain: (() => void) | undefined;

  constructor(id: number, headers: SpdyHeaders, wire: Wire) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.headers = headers;
    this.#wire = wire;
  }

  /** False when the reader is too far behind; `resume` is called once it is not. */
  receive(payload: Buffer, isLast: boolean, resume: () => void): boolean {
    if (payload.length > 0) this.push(payload);
    if (isLast) this.push(null);
    this.#hasInputEnded ||= isLast;
    if (this.readableLength <= BACKLOG_BYTES_MAX) return true;
    this.#onDrain = resume;
    return false;
  }

  /** The other side is done with the stream: what it has sent before can still be read. */
  leave(): void {
    this.#isReset = true;
    if (this.readableEnded || this.destroyed) return void this.destroy();
    if (!this.#hasInputEnded) this.push(null);
    this.once('end', () => this.destroy());
  }

  /** The other side has reset the stream. */
  abort(): void {
    this.#isReset = true;
    this.destroy();
  }

  override _read(): void {
    const resume = this.#onDrain;
    this.#onDrain = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const next = (at: number): void => {
      const part = chunk.subarray(at, at + DATA_BYTES_MAX);
      const end = at + part.length;
      this.#wire.send(dataFrame(this.id, part, false), (error) =>
        error || end >= chunk.length ? done(error) : next(end),
      );
    };
    next(0);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#wire.send(dataFrame(this.id, Buffer.alloc(0), true), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isOver = this.writableFinished && this.readableEnded;
    if (!isOver && !this.#isReset) this.#wire.send(rstStream(this.id, RST_CANCEL), () => undefined);
    this.#onDrain?.();
    this.#wire.forget(this.id);
    done(error);
  }
}

export interface SpdyConnectionOptions {
  /** This side has asked for the connection and opens the streams. */
  readonly isClient?: boolean;
  /** A stream that the client has opened; false refuses it. */
  onStream(stream: SpdyStream): boolean | void;
  /** Once, after the last stream is gone. */
  onClose?(why: string | undefined): void;
}

/**
 * SPDY/3.1 as kubectl's streams need it: streams are opened by the client and answered with an empty reply. There is no flow control by windows, as there is none in the library that kubectl uses: the
 * connection's own back pressure holds.
 */
export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #options: SpdyConnectionOptions;
  readonly #reader = new FrameReader();
  readonly #decoder = new HeaderDecoder();
  readonly #encoder = new HeaderEncoder();
  readonly #streams = new Map<number, SpdyStream>();
  #queue: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #lastStreamId = 0;
  #nextStreamId = 1;
  #isClosed = false;

  constructor(socket: Duplex, options: SpdyConnectionOptions, head: Buffer = Buffer.alloc(0)) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => this.close());
    // A server may close the connection right after its last frames: they are handled first, also where what this side
    // sends then is answered with a reset.
    socket.once('close', () => void this.#queue.then(() => this.#closed(undefined)));
    socket.on('error', (error) => void this.#queue.then(() => this.#closed(error.message)));
    if (head.length > 0) this.#receive(head);
  }

  /** Opens a stream, for the side that has asked for the connection. */
  open(headers: SpdyHeaders): SpdyStream {
    const id = this.#nextStreamId;
    this.#nextStreamId += 2;
    const stream = this.#streamOf(id, headers);
    this.#send(synStream(id, this.#encoder.encode(headers)));
    return stream;
  }

  /** Tells the client that no more streams are taken, and hangs up once everything was sent. */
  close(): void {
    if (this.#isClosed || this.#socket.writableEnded) return;
    this.#socket.end(goAway(this.#lastStreamId));
  }

  #receive(chunk: Buffer): void {
    let frames: Frame[];
    try {
      frames = this.#reader.push(chunk);
    } catch (error) {
      this.#fail(error);
      return;
    }
    // Headers are decoded asynchronously; what follows them must not overtake them.
    for (const frame of frames) {
      this.#queuedBytes += frame.payload.length;
      this.#queue = this.#queue
        .then(() => this.#handle(frame))
        .catch((error: unknown) => this.#fail(error))
        .then(() => this.#handled(frame.payload.length));
    }
    if (this.#queuedBytes > BACKLOG_BYTES_MAX) this.#socket.pause();
  }

  /** A client that sends faster than its frames are handled waits. */
  #handled(bytes: number): void {
    const wasFull = this.#queuedBytes > BACKLOG_BYTES_MAX;
    this.#queuedBytes -= bytes;
    if (wasFull && this.#queuedBytes <= BACKLOG_BYTES_MAX && !this.#isClosed) this.#socket.resume();
  }

  #fail(error: unknown): void {
    this.#socket.destroy();
    this.#closed(messageOf(error));
  }

  async #handle(frame: Frame): Promise<void> {
    if (this.#isClosed) return;
    if (frame.frame === 'data') {
      const stream = this.#streams.get(frame.streamId);
      const goesOn = stream?.receive(frame.payload, frame.isLast, () => this.#socket.resume()) ?? true;
      if (!goesOn) this.#socket.pause();
      return;
    }
    switch (frame.type) {
      case SYN_STREAM:
        return this.#open(frame.payload, frame.flags);
      case RST_STREAM:
        this.#end(this.#streams.get(frame.payload.readUInt32BE(0) & 0x7fff_ffff));
        return;
      case PING:
        this.#send(ping(frame.payload.readUInt32BE(0)));
        return;
      case GOAWAY:
      default:
        return;
    }
  }

  async #open(payload: Buffer, flags: number): Promise<void> {
    const id = payload.readUInt32BE(0) & 0x7fff_ffff;
    const headers = await this.#decoder.decode(payload.subarray(SYN_STREAM_HEADERS_AT));
    this.#lastStreamId = Math.max(this.#lastStreamId, id);
    if (this.#streams.size >= STREAMS_MAX || this.#streams.has(id)) {
      this.#send(rstStream(id, RST_REFUSED_STREAM));
      return;
    }
    const stream = this.#streamOf(id, headers);
    this.#send(synReply(id, this.#encoder.encode(new Map())));
    if ((flags & FLAG_FIN) !== 0) stream.receive(Buffer.alloc(0), true, () => undefined);
    if (this.#options.onStream(stream) === false) stream.destroy();
  }

  #streamOf(id: number, headers: SpdyHeaders): SpdyStream {
    const stream = new SpdyStream(id, headers, {
      send: (bytes, done) => this.#send(bytes, done),
      forget: (streamId) => this.#streams.delete(streamId),
    });
    stream.on('error', () => undefined);
    this.#streams.set(id, stream);
    return stream;
  }

  #send(frame: Buffer, done: (error?: Error | null) => void = () => undefined): void {
    if (this.#isClosed || this.#socket.writableEnded || this.#socket.destroyed) done();
    else this.#socket.write(frame, done);
  }

  /** A server resets its streams when it has said everything; a client that resets one wants no more of it. */
  #end(stream: SpdyStream | undefined): void {
    if (this.#options.isClient === true) stream?.leave();
    else stream?.abort();
  }

  #closed(why: string | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#decoder.close();
    for (const stream of this.#streams.values()) this.#end(stream);
    this.#streams.clear();
    this.#options.onClose?.(why);
  }
}
