import type { Duplex } from 'node:stream';
import { constants, createDeflate, createInflate } from 'node:zlib';
import {
  controlFrame,
  dataFrame,
  FrameReader,
  PING,
  RST_STREAM,
  SYN_REPLY,
  SYN_STREAM,
} from '../spdy/frames.ts';
import { SPDY_DICTIONARY } from '../spdy/dictionary.ts';

/** What came back on one stream. */
export interface Received {
  text: string;
  isEnded: boolean;
  isReset: boolean;
  isReplied: boolean;
}

/** A client as kubectl is one: real zlib with the dictionary in both directions, streams with odd ids. */
export class SpdyClient {
  readonly #socket: Duplex;
  readonly #deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY });
  readonly #reader = new FrameReader();
  readonly #streams = new Map<number, Received>();
  readonly #waiting = new Set<() => void>();
  readonly pings: number[] = [];
  /** Bytes of headers that the server sent, inflated. */
  inflatedBytes = 0;
  isClosed = false;
  #nextId = 1;

  constructor(socket: Duplex, head: Buffer = Buffer.alloc(0)) {
    this.#socket = socket;
    this.#inflate.on('data', (chunk: Buffer) => (this.inflatedBytes += chunk.length));
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('close', () => {
      this.isClosed = true;
      this.#wake();
    });
    if (head.length > 0) this.#receive(head);
  }

  async open(headers: Readonly<Record<string, string>>): Promise<number> {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, { text: '', isEnded: false, isReset: false, isReplied: false });
    const text = (value: string): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(value.length);
      return Buffer.concat([length, Buffer.from(value)]);
    };
    const count = Buffer.alloc(4);
    count.writeUInt32BE(Object.keys(headers).length);
    const block = Buffer.concat([count, ...Object.entries(headers).flatMap(([k, v]) => [text(k), text(v)])]);
    const compressed = await this.#compress(block);
    const ids = Buffer.alloc(10);
    ids.writeUInt32BE(id);
    this.#socket.write(controlFrame(SYN_STREAM, Buffer.concat([ids, compressed])));
    return id;
  }

  send(id: number, text: string, isLast = false): void {
    this.#socket.write(dataFrame(id, Buffer.from(text), isLast));
  }

  ping(id: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(id);
    this.#socket.write(controlFrame(PING, payload));
  }

  stream(id: number): Received {
    return this.#streams.get(id)!;
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  close(): void {
    this.#socket.destroy();
  }

  #compress(block: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const gather = (chunk: Buffer): void => void chunks.push(chunk);
      this.#deflate.on('data', gather);
      this.#deflate.write(block);
      this.#deflate.flush(constants.Z_SYNC_FLUSH, () =>
        setImmediate(() => {
          this.#deflate.off('data', gather);
          resolve(Buffer.concat(chunks));
        }),
      );
    });
  }

  #receive(chunk: Buffer): void {
    for (const frame of this.#reader.push(chunk)) {
      if (frame.frame === 'data') {
        const stream = this.#streams.get(frame.streamId);
        if (!stream) continue;
        stream.text += frame.payload.toString();
        stream.isEnded ||= frame.isLast;
      } else if (frame.type === SYN_REPLY) {
        this.#inflate.write(frame.payload.subarray(4));
        this.stream(frame.payload.readUInt32BE(0)).isReplied = true;
      } else if (frame.type === RST_STREAM) this.stream(frame.payload.readUInt32BE(0)).isReset = true;
      else if (frame.type === PING) this.pings.push(frame.payload.readUInt32BE(0));
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
