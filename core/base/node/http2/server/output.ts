import type { Duplex } from 'node:stream';

/** Pieces handed to the socket immediately; more waits in the streams. */
const HIGH_BYTES = 256 * 1024;
/** Answers to control frames that a peer provokes and does not read. */
const UNREAD_BYTES_MAX = 1024 * 1024;

/** What leaves a connection: collected during one turn of the event loop and written at its end. */
export class Output {
  readonly #socket: Duplex;
  /** There is room for data again. */
  readonly #onRoom: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #flushPlanned = false;
  #socketFull = false;
  #closed = false;

  constructor(socket: Duplex, onRoom: () => void) {
    this.#socket = socket;
    this.#onRoom = onRoom;
    socket.on('drain', () => {
      this.#socketFull = false;
      this.flush();
      if (!this.#socketFull) this.#onRoom();
    });
  }

  /** True when data should wait; control frames never do. */
  get congested(): boolean {
    return this.#socketFull || this.#bytes >= HIGH_BYTES;
  }

  write(bytes: Buffer): void {
    if (this.#closed) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    // After the promises of this turn: a batch of commits answers its callers in one write.
    process.nextTick(() => {
      this.#flushPlanned = false;
      this.flush();
    });
  }

  flush(): void {
    if (this.#closed || this.#bytes === 0) return;
    if (this.#socketFull) {
      if (this.#bytes > UNREAD_BYTES_MAX + HIGH_BYTES) this.#socket.destroy();
      return;
    }
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    this.#socketFull = !this.#socket.write(bytes);
    if (!this.#socketFull) this.#onRoom();
  }

  /** Nothing is written any more. */
  close(): void {
    this.#closed = true;
    this.#pieces = [];
    this.#bytes = 0;
  }
}
