import type { TLSSocket } from 'node:tls';
import { H2_ERROR } from '../../base/node/http2/frame.ts';
import { encodeHeaders, type HeaderField } from '../../base/node/http2/hpack.ts';
import type { Http2Stream, StreamOwner } from '../../base/node/http2/server/stream.ts';
import { bodyCutOff, bodyTooLarge, DISCARD_BYTES_MAX, type BodySource } from './body.ts';
import { createExchange, declaredBytesOf, type Exchange } from './exchange.ts';
import { RequestHeaders } from './headers.ts';
import type { HeaderValue, Outbound } from './response.ts';

/** Bytes of one answer that wait for the client's window before its maker is asked to wait too. */
const QUEUED_BYTES_HIGH = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/** What came of a body waits here, within the stream's window, until it is read. */
class Http2Body implements BodySource {
  readonly #stream: Http2Stream;
  readonly #declaredBytes: number | undefined;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #mode: 'held' | 'read' | 'discarded' = 'held';
  #ended = false;
  #gone = false;
  #bytesMax = 0;
  #settle: { resolve(bytes: Uint8Array): void; reject(error: unknown): void } | undefined;

  constructor(stream: Http2Stream, declaredBytes: number | undefined) {
    this.#stream = stream;
    this.#declaredBytes = declaredBytes;
  }

  collect(bytesMax: number): Promise<Uint8Array> {
    this.#mode = 'read';
    this.#bytesMax = bytesMax;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#bytes > bytesMax) this.#refuse();
      else if (this.#ended) this.#finish();
      else if (this.#gone) this.abort();
      else this.#stream.consume(this.#bytes);
    });
  }

  discard(): void {
    if (this.#mode === 'discarded') return;
    this.#mode = 'discarded';
    this.#stream.consume(this.#bytes);
    this.#chunks = [];
  }

  abort(): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.reject(bodyCutOff());
    if (settle) this.discard();
  }

  onData(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    if (this.#declaredBytes !== undefined && this.#bytes > this.#declaredBytes) {
      this.#stream.reset(H2_ERROR.protocolError);
      return;
    }
    if (this.#mode === 'discarded') {
      if (this.#bytes > this.#bytesMax + DISCARD_BYTES_MAX) this.#stream.reset(H2_ERROR.enhanceYourCalm);
      else this.#stream.consume(bytes.byteLength);
      return;
    }
    this.#chunks.push(bytes);
    if (this.#mode === 'held') return;
    if (this.#bytes > this.#bytesMax) this.#refuse();
    else this.#stream.consume(bytes.byteLength);
  }

  onEnd(): void {
    this.#ended = true;
    // A body that is not as long as it said is malformed (RFC 9113, section 8.1.1).
    if (this.#declaredBytes !== undefined && this.#bytes !== this.#declaredBytes)
      this.#stream.reset(H2_ERROR.protocolError);
    else if (this.#settle) this.#finish();
  }

  onGone(): void {
    this.#gone = true;
    this.abort();
  }

  #refuse(): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.discard();
    settle?.reject(bodyTooLarge(this.#bytesMax));
  }

  #finish(): void {
    const settle = this.#settle;
    this.#settle = undefined;
    // A chunk is a view of a whole read of the socket: a body that is kept must not keep that too.
    settle?.resolve(this.#chunks.length === 0 ? NOTHING : Buffer.concat(this.#chunks, this.#bytes));
    this.#chunks = [];
  }
}

/** Headers that speak of the connection exist in HTTP/1.1 only (RFC 9113, section 8.2.2). */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
const SECOND_MS = 1000;
/** What would end a header where the answer is passed on in HTTP/1.1. */
const UNSAFE = /[\0\r\n]/g;

let dateText = '';
let dateSecond = 0;
const httpDate = (): string => {
  const second = Math.floor(Date.now() / SECOND_MS);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * SECOND_MS).toUTCString();
  }
  return dateText;
};

const headBlock = (code: number, headers: ReadonlyMap<string, HeaderValue>): Buffer => {
  const fields: HeaderField[] = [{ name: ':status', value: String(code) }];
  for (const [name, value] of headers) {
    if (CONNECTION_HEADERS.has(name)) continue;
    if (typeof value === 'string') fields.push({ name, value: value.replace(UNSAFE, ' ') });
    else for (const one of value) fields.push({ name, value: one.replace(UNSAFE, ' ') });
  }
  if (!headers.has('date')) fields.push({ name: 'date', value: httpDate() });
  return encodeHeaders(fields);
};

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

class Http2Outbound implements Outbound {
  readonly #stream: Http2Stream;
  #waiting: (() => void)[] = [];
  #closesConnection = false;

  constructor(stream: Http2Stream) {
    this.#stream = stream;
  }

  get gone(): boolean {
    return this.#stream.closed || this.#stream.answered;
  }

  head(code: number, headers: ReadonlyMap<string, HeaderValue>): void {
    this.#closesConnection = headers.get('connection') === 'close';
    this.#stream.sendHeaders(headBlock(code, headers));
  }

  whole(
    code: number,
    headers: ReadonlyMap<string, HeaderValue>,
    body: Uint8Array,
  ): Promise<void> | undefined {
    this.#closesConnection = headers.get('connection') === 'close';
    this.#stream.answer(headBlock(code, headers), bufferOf(body));
    return this.#stream.closed || this.#stream.answered ? undefined : this.#closed();
  }

  write(chunk: Uint8Array): boolean {
    this.#stream.sendData(bufferOf(chunk));
    return this.#stream.queuedBytes < QUEUED_BYTES_HIGH;
  }

  async drained(): Promise<void> {
    while (!this.#stream.closed && this.#stream.queuedBytes >= QUEUED_BYTES_HIGH) await this.#change();
  }

  async end(): Promise<void> {
    this.#stream.end();
    await this.#closed();
  }

  destroy(): void {
    this.#stream.reset(H2_ERROR.internalError);
  }

  /** Room was made, or the stream is over. */
  onChange(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  onClosed(): void {
    // As upstream: a client that did not authenticate keeps no connection of this costly protocol.
    if (this.#closesConnection) this.#stream.connection.drain();
    this.onChange();
  }

  async #closed(): Promise<void> {
    while (!this.#stream.closed && !this.#stream.answered) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export interface Http2Parts {
  readonly stream: Http2Stream;
  readonly socket: TLSSocket;
  readonly draining: AbortSignal;
}

export const http2Exchange = ({ stream, socket, draining }: Http2Parts): Exchange => {
  const headers = RequestHeaders.fromFields(stream.headers);
  const declaredBytes = declaredBytesOf(headers);
  const body = new Http2Body(stream, declaredBytes);
  const outbound = new Http2Outbound(stream);
  const made = createExchange({
    method: stream.header(':method') ?? 'GET',
    url: stream.header(':path') ?? '/',
    headers,
    protocol: 'HTTP/2.0',
    socket,
    body,
    declaredBytes,
    outbound,
    draining,
  });
  const owner: StreamOwner = {
    onData: (bytes) => body.onData(bytes),
    onEnd: () => body.onEnd(),
    onDrain() {
      if (stream.answered) body.discard();
      outbound.onChange();
    },
    onClosed(how) {
      outbound.onClosed();
      if (how === 'done' || stream.answered) return;
      body.onGone();
      made.abort(new Error('the client is gone'));
    },
  };
  stream.owner = owner;
  // Not every client reads an answer that came while it was still sending, unless it may finish.
  stream.lingers = true;
  return made;
};
