import type { MemberId } from '../../raft/types.ts';
import type { ByteWriter } from './bytes.ts';
import { ByteReader, malformed } from './bytes.ts';
import { decodeMessage, writeMessage } from './codec.ts';
import { sendAlive, type Connection } from './connection.ts';
import { dial } from './dial.ts';
import { FRAME } from './frame.ts';
import type { Hello } from './hello.ts';
import { readFailure, writeFailure } from './requests.ts';
import type { PeerSettings } from './settings.ts';
import { PeerError, type SnapshotHandler, type SnapshotTransfer } from './transport.ts';

const CHUNK_BYTES_MAX = 1024 * 1024;
/** What may wait on either side of the wire before the source has to wait. */
const BUFFERED_BYTES_MAX = 4 * 1024 * 1024;

/** Sends one snapshot on a connection of its own; resolves when the other side has taken it over. */
export const sendSnapshot = async (
  url: string,
  hello: Hello,
  settings: PeerSettings,
  transfer: SnapshotTransfer,
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> => {
  let settle: { resolve: () => void; reject: (error: Error) => void };
  const outcome = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  // Awaited at the end; a failure before that is met by `ensureOpen`.
  outcome.catch(() => undefined);
  const connection = await dial(
    url,
    hello,
    settings,
    {
      onFrame(type, payload) {
        if (type === FRAME.snapshotDone) settle.resolve();
        else if (type === FRAME.failure) settle.reject(readFailure(new ByteReader(payload)));
        else if (type !== FRAME.alive) throw malformed(`frame ${type} in answer to a snapshot`);
        else return;
        connection.close(new PeerError('Closed', 'the snapshot is through'));
      },
      onClosed: (error) => settle.reject(error),
      onTick: () => sendAlive(connection),
    },
    signal,
  );
  const abort = (): void => connection.close(new PeerError('Closed', 'the transport was closed'));
  signal.addEventListener('abort', abort);
  try {
    connection.frame(FRAME.snapshotHead, (w) => writeHead(w, transfer));
    let sentBytes = 0;
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length && !connection.closed; at += CHUNK_BYTES_MAX) {
        const part = chunk.subarray(at, at + CHUNK_BYTES_MAX);
        onBytes(connection.frame(FRAME.snapshotChunk, (w) => w.raw(part)));
        sentBytes += part.length;
        await connection.drainedTo(BUFFERED_BYTES_MAX);
      }
      // The answer may already be there: a receiver that fails does not wait for the end.
      if (connection.closed) break;
    }
    connection.frame(FRAME.snapshotEnd, (w) => w.varint(sentBytes));
    await outcome;
  } finally {
    signal.removeEventListener('abort', abort);
    connection.close(new PeerError('Closed', 'the snapshot is over'));
  }
};

const writeHead = (w: ByteWriter, transfer: SnapshotTransfer): void => {
  w.varint(transfer.sizeBytes);
  writeMessage(w, transfer.message);
};

const readHead = (payload: Uint8Array): SnapshotTransfer => {
  const r = new ByteReader(payload);
  const sizeBytes = r.varint();
  const message = decodeMessage(r.rest());
  if (message.kind !== 'snapshot') throw malformed('a snapshot without its message');
  return { message, sizeBytes };
};

/** The receiving end of one snapshot connection: frames in, chunks out at the reader's pace. */
export class SnapshotReceiver {
  readonly #connection: Connection;
  readonly #from: MemberId;
  readonly #handler: SnapshotHandler;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #receivedBytes = 0;
  #ended = false;
  #started = false;
  #failure: PeerError | undefined;
  #wake: (() => void) | undefined;
  readonly #onDone: (ok: boolean) => void;

  constructor(options: {
    readonly connection: Connection;
    readonly from: MemberId;
    readonly handler: SnapshotHandler;
    readonly onDone: (ok: boolean) => void;
  }) {
    this.#connection = options.connection;
    this.#from = options.from;
    this.#handler = options.handler;
    this.#onDone = options.onDone;
  }

  onFrame(type: number, payload: Buffer): void {
    if (type === FRAME.alive) return;
    if (!this.#started) {
      if (type !== FRAME.snapshotHead) throw malformed('a snapshot without its head');
      this.#started = true;
      void this.#run(readHead(payload));
      return;
    }
    if (type === FRAME.snapshotChunk) this.#take(payload);
    else if (type === FRAME.snapshotEnd) this.#end(new ByteReader(payload).varint());
    else throw malformed(`frame ${type} inside a snapshot`);
    this.#notify();
  }

  onClosed(error: PeerError): void {
    this.#failure ??= error;
    this.#notify();
  }

  #take(payload: Buffer): void {
    if (this.#ended) throw malformed('more of a snapshot behind its end');
    this.#chunks.push(payload);
    this.#bufferedBytes += payload.length;
    this.#receivedBytes += payload.length;
    if (this.#bufferedBytes > BUFFERED_BYTES_MAX) this.#connection.pause();
  }

  #end(sentBytes: number): void {
    if (sentBytes !== this.#receivedBytes) {
      throw malformed(`${sentBytes} bytes of a snapshot, of which ${this.#receivedBytes} arrived`);
    }
    this.#ended = true;
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  async *#stream(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#bufferedBytes -= chunk.length;
        if (this.#bufferedBytes <= BUFFERED_BYTES_MAX / 2) this.#connection.resume();
        yield chunk;
      } else if (this.#ended) return;
      else if (this.#failure !== undefined) {
        throw new PeerError('Unreachable', `the snapshot broke off: ${this.#failure.message}`, {
          cause: this.#failure,
        });
      } else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #run(transfer: SnapshotTransfer): Promise<void> {
    try {
      await this.#handler(this.#from, transfer, this.#stream());
      this.#connection.frame(FRAME.snapshotDone);
      this.#onDone(true);
    } catch (error) {
      this.#connection.frame(FRAME.failure, (w) => writeFailure(w, error));
      this.#onDone(false);
    }
    this.#chunks = [];
    this.#connection.end(new PeerError('Closed', 'the snapshot is over'));
  }
}
