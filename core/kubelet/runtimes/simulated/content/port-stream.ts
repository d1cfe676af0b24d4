import { Duplex } from 'node:stream';
import type { StreamMessage } from './messages.ts';

/** A message is no larger, so that a client that reads slowly holds little. */
const CHUNK_BYTES_MAX = 64 * 1024;

/** One end of a byte stream between two threads. A chunk is on its way at a time: memory stays bounded on both sides. */
export class PortStream extends Duplex {
  readonly id: number;
  readonly #post: (message: StreamMessage) => void;
  #onAck: (() => void) | undefined;
  #owesAck = false;
  #isRemoteGone = false;

  constructor(id: number, post: (message: StreamMessage) => void) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.#post = post;
    // The other end may go at any moment; anyone who uses the stream sees its end.
    this.on('error', () => undefined);
  }

  /** A message of the other end. */
  receive(message: StreamMessage): void {
    switch (message.kind) {
      case 'data':
        this.#owesAck = true;
        if (!this.destroyed && !this.readableEnded) this.push(Buffer.from(message.chunk));
        if (this.destroyed) this.#ack();
        return;
      case 'ack':
        this.#acknowledged();
        return;
      case 'end':
        if (!this.destroyed) this.push(null);
        return;
      case 'close':
        this.#isRemoteGone = true;
        this.destroy();
    }
  }

  override _read(): void {
    this.#ack();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const next = (at: number): void => {
      if (at >= chunk.length) return done();
      this.#onAck = () => next(at + CHUNK_BYTES_MAX);
      this.#post({ kind: 'data', stream: this.id, chunk: chunk.subarray(at, at + CHUNK_BYTES_MAX) });
    };
    next(0);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#post({ kind: 'end', stream: this.id });
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isRemoteGone) this.#post({ kind: 'close', stream: this.id });
    this.#onAck = undefined;
    done(error);
  }

  #ack(): void {
    if (!this.#owesAck) return;
    this.#owesAck = false;
    this.#post({ kind: 'ack', stream: this.id });
  }

  #acknowledged(): void {
    const next = this.#onAck;
    this.#onAck = undefined;
    next?.();
  }
}
