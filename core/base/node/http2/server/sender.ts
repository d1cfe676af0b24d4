import {
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  FRAME_PAYLOAD_BYTES_MAX,
  H2_ERROR,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_MAX,
  frame,
  writeFrameHead,
} from '../frame.ts';
import type { FloodGuard } from './flood-guard.ts';
import type { Output } from './output.ts';
import { breach } from './protocol-breach.ts';
import type { StallBudget, StalledHolder } from './stall-budget.ts';
import type { Http2Stream } from './stream.ts';
import type { Clock } from '../../../clock.ts';
import type { Disposable } from '../../../disposable.ts';

const NO_PAYLOAD = Buffer.alloc(0);
/** What a stream takes besides its queue and the headers of its request. */
const STREAM_OVERHEAD_BYTES = 4096;

export interface SenderOptions {
  readonly output: Output;
  readonly flood: FloodGuard;
  readonly clock: Clock;
  /** A stream of which nothing moved for this long is given up. */
  readonly stallTimeoutMs: number;
  readonly budget: StallBudget | undefined;
  /** The peer has taken nothing of the stream in time; `isDeaf` where it does not even read from the connection. */
  readonly onStalled: (stream: Http2Stream, isDeaf: boolean) => void;
  readonly onEvicted: () => void;
  /** The last frame of a stream's answer has been written. */
  readonly onEnded: (stream: Http2Stream) => void;
}

/** The sending half of a connection: what streams have queued, as far as windows and the socket let it go. */
export class Sender implements StalledHolder {
  readonly #options: SenderOptions;
  readonly #output: Output;
  /** Streams with bytes that a window or the socket held back, served in turn. */
  readonly #waiting = new Set<Http2Stream>();
  #windowBytes = WINDOW_BYTES_DEFAULT;
  /** Of waiting streams: what they have queued, and what their requests take. */
  #waitingBytes = 0;
  #stallTimer: Disposable | undefined;
  progressAtMs = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#output = options.output;
  }

  evict(): void {
    this.#options.onEvicted();
  }

  /** Adds to what the stream sends, and sends what may go. */
  queue(stream: Http2Stream, bytes: Buffer): void {
    stream.queue.push(bytes);
    stream.queuedBytes += bytes.length;
    if (this.#waiting.has(stream)) this.#waitingBytes += bytes.length;
    this.pump(stream);
  }

  headers(stream: Http2Stream, block: Buffer, endStream: boolean): void {
    const end = endStream ? FLAG.endStream : 0;
    if (block.length <= FRAME_PAYLOAD_BYTES_MAX) {
      this.#output.write(frame(FRAME.headers, FLAG.endHeaders | end, stream.id, block));
      return;
    }
    for (let at = 0; at < block.length; at += FRAME_PAYLOAD_BYTES_MAX) {
      const part = block.subarray(at, at + FRAME_PAYLOAD_BYTES_MAX);
      const last = at + part.length === block.length ? FLAG.endHeaders : 0;
      const [type, flags] = at === 0 ? [FRAME.headers, end | last] : [FRAME.continuation, last];
      this.#output.write(frame(type, flags, stream.id, part));
    }
  }

  /** Headers, data and trailers, if there are any, in one buffer where windows allow, else one after the other. */
  answer(stream: Http2Stream, headers: Buffer, data: Buffer, trailers?: Buffer): void {
    const fits =
      stream.queuedBytes === 0 &&
      data.length <= stream.sendWindowBytes &&
      data.length <= this.#windowBytes &&
      data.length <= FRAME_PAYLOAD_BYTES_MAX &&
      headers.length <= FRAME_PAYLOAD_BYTES_MAX &&
      !this.#output.congested;
    if (!fits) {
      this.headers(stream, headers, false);
      stream.sendData(data);
      stream.end(trailers);
      return;
    }
    const tailBytes = trailers === undefined ? 0 : FRAME_HEADER_BYTES + trailers.length;
    const whole = Buffer.allocUnsafe(2 * FRAME_HEADER_BYTES + headers.length + data.length + tailBytes);
    const { endHeaders, endStream } = FLAG;
    let at = putFrame(whole, 0, FRAME.headers, endHeaders, stream.id, headers);
    at = putFrame(whole, at, FRAME.data, trailers === undefined ? endStream : 0, stream.id, data);
    if (trailers !== undefined)
      putFrame(whole, at, FRAME.headers, endHeaders | endStream, stream.id, trailers);
    this.#output.write(whole);
    this.#spent(stream, data.length);
    this.#options.onEnded(stream);
  }

  /** Moves what one stream has queued, and ends it when everything is through and its end was asked for. */
  pump(stream: Http2Stream): void {
    if (stream.closed) return;
    while (stream.queuedBytes > 0 && this.#sendFrame(stream));
    this.#settle(stream);
  }

  /** Every waiting stream in turn, a frame at a time. */
  pumpWaiting(): void {
    for (let moved = true; moved && this.#waiting.size > 0;) {
      moved = false;
      for (const stream of [...this.#waiting]) {
        // An owner that is told of room may end other streams.
        if (stream.closed || !this.#sendFrame(stream)) continue;
        moved = true;
        this.#settle(stream);
        if (!stream.closed) stream.owner?.onDrain();
      }
    }
  }

  /** The stream is over, and what it has queued with it. */
  forget(stream: Http2Stream): void {
    this.#stopWaiting(stream);
    stream.queue.length = 0;
    stream.queuedBytes = 0;
  }

  /** The connection is over. */
  close(): void {
    this.#stallTimer?.dispose();
    this.#stallTimer = undefined;
    this.#waiting.clear();
    this.#waitingBytes = 0;
    this.#options.budget?.set(this, 0);
  }

  /** The peer takes more on the connection as a whole. Throws ProtocolBreach. */
  widen(bytes: number): void {
    if (bytes === 0) throw breach('WINDOW_UPDATE of nothing');
    this.#windowBytes += bytes;
    if (this.#windowBytes > WINDOW_BYTES_MAX) throw breach('window overflow', H2_ERROR.flowControlError);
    this.pumpWaiting();
  }

  /** The window of one stream has grown. */
  widened(stream: Http2Stream): void {
    if (!this.#waiting.has(stream)) return;
    this.pump(stream);
    if (!stream.closed) stream.owner?.onDrain();
  }

  #sendFrame(stream: Http2Stream): boolean {
    if (this.#output.congested) return false;
    const first = stream.queue[0]!;
    const length = Math.min(first.length, FRAME_PAYLOAD_BYTES_MAX, stream.sendWindowBytes, this.#windowBytes);
    if (length <= 0) return false;
    const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    writeFrameHead(head, 0, { length, type: FRAME.data, flags: 0, streamId: stream.id });
    this.#output.write(head);
    if (length === first.length) {
      stream.queue.shift();
      this.#output.write(first);
    } else {
      this.#output.write(first.subarray(0, length));
      stream.queue[0] = first.subarray(length);
    }
    stream.queuedBytes -= length;
    if (this.#waiting.has(stream)) {
      this.#waitingBytes -= length;
      stream.progressAtMs = this.progressAtMs = this.#options.clock.monotonicMs();
    }
    this.#spent(stream, length);
    return true;
  }

  #spent(stream: Http2Stream, bytes: number): void {
    stream.sendWindowBytes -= bytes;
    this.#windowBytes -= bytes;
    this.#options.flood.answered();
  }

  #settle(stream: Http2Stream): void {
    if (stream.queuedBytes > 0) {
      this.#wait(stream);
      return;
    }
    this.#stopWaiting(stream);
    if (!stream.ending) return;
    if (stream.trailers === undefined)
      this.#output.write(frame(FRAME.data, FLAG.endStream, stream.id, NO_PAYLOAD));
    else this.headers(stream, stream.trailers, true);
    this.#options.onEnded(stream);
  }

  #wait(stream: Http2Stream): void {
    if (!this.#waiting.has(stream)) {
      stream.progressAtMs = this.#options.clock.monotonicMs();
      if (this.#waiting.size === 0) this.progressAtMs = stream.progressAtMs;
      this.#waiting.add(stream);
      this.#waitingBytes += stream.queuedBytes + stream.headerBytes + STREAM_OVERHEAD_BYTES;
    }
    this.#stallTimer ??= this.#watch(this.#options.stallTimeoutMs);
    this.#options.budget?.set(this, this.#waitingBytes);
  }

  #stopWaiting(stream: Http2Stream): void {
    if (!this.#waiting.delete(stream)) return;
    this.#waitingBytes -= stream.queuedBytes + stream.headerBytes + STREAM_OVERHEAD_BYTES;
    this.#options.budget?.set(this, this.#waitingBytes);
  }

  /** One timer a connection, and only while something waits. */
  #watch(delayMs: number): Disposable {
    const { clock, stallTimeoutMs, onStalled } = this.#options;
    return clock.after(delayMs, () => {
      this.#stallTimer = undefined;
      const nowMs = clock.monotonicMs();
      let oldestMs = nowMs;
      for (const stream of [...this.#waiting]) {
        if (stream.closed) continue;
        if (nowMs - stream.progressAtMs >= stallTimeoutMs) onStalled(stream, this.#output.congested);
        else oldestMs = Math.min(oldestMs, stream.progressAtMs);
      }
      if (this.#waiting.size > 0) this.#stallTimer = this.#watch(oldestMs + stallTimeoutMs - nowMs);
    });
  }
}

const putFrame = (
  to: Buffer,
  offset: number,
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array,
): number => {
  writeFrameHead(to, offset, { length: payload.length, type, flags, streamId });
  to.set(payload, offset + FRAME_HEADER_BYTES);
  return offset + FRAME_HEADER_BYTES + payload.length;
};
