import { jsonText } from '../../api/meta/json-text.ts';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { assert } from '../../base/assert.ts';
import { ReasonError } from '../../base/errors.ts';
import type { StatusError } from '../../api/meta/index.ts';

/** Upstream compresses answers from this size on, at the fastest level. */
export const GZIP_BYTES_MIN = 128 * 1024;
const GZIP_LEVEL = 1;
const compress = promisify(gzip);

export type HeaderValue = string | readonly string[];

/** One protocol's way to send an answer. */
export interface Outbound {
  head(code: number, headers: ReadonlyMap<string, HeaderValue>): void;
  /** The whole answer immediately, where the protocol gains by it; resolves, or is undefined, when it is sent. */
  whole?(
    code: number,
    headers: ReadonlyMap<string, HeaderValue>,
    body: Uint8Array,
  ): Promise<void> | undefined;
  /** False when the buffer is full: wait for `drained`. */
  write(chunk: Uint8Array): boolean;
  drained(): Promise<void>;
  end(): Promise<void>;
  /** Cuts the answer off, so that the client sees it is not whole. */
  destroy(): void;
  readonly gone: boolean;
}

export interface ResponseOptions {
  readonly outbound: Outbound;
  readonly isHead: boolean;
  /** Asked only for what is large enough. */
  readonly acceptsGzip: () => boolean;
}

const clientGone = (): ReasonError<'ClientGone'> =>
  new ReasonError('ClientGone', 'the client closed the connection before the answer was complete');

/** The answer to one request: whole with `send`, or `begin`, `write`..., `end`. */
export class ApiResponse {
  readonly #options: ResponseOptions;
  readonly #headers = new Map<string, HeaderValue>();
  #code = 0;
  #bytes = 0;
  #ended = false;
  #whenComplete: (() => void)[] = [];
  #whenBegun: (() => void)[] = [];
  #kept: { readonly bytesMax: number; bytes: number; parts: Uint8Array[] | undefined } | undefined;

  constructor(options: ResponseOptions) {
    this.#options = options;
  }

  /** 0 until the head is sent. */
  get code(): number {
    return this.#code;
  }

  get started(): boolean {
    return this.#code !== 0;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Calls back once nothing is left to be made of the answer, which the client may still have to take. */
  onComplete(run: () => void): void {
    if (this.#ended) run();
    else this.#whenComplete.push(run);
  }

  /** Calls back when the head is sent; for answers that last. */
  onBegin(run: () => void): void {
    this.#whenBegun.push(run);
  }

  #begun(code: number): void {
    this.#code = code;
    const waiting = this.#whenBegun;
    this.#whenBegun = [];
    for (const run of waiting) run();
  }

  /** Keeps the body, before compression, for anyone who records answers. */
  keepBody(bytesMax: number): void {
    this.#kept = { bytesMax, bytes: 0, parts: [] };
  }

  /** Undefined where it was not kept, or is larger than asked for. */
  get body(): Uint8Array | undefined {
    return this.#kept?.parts && Buffer.concat(this.#kept.parts);
  }

  #keep(bytes: Uint8Array): void {
    if (!this.#kept?.parts) return;
    this.#kept.bytes += bytes.byteLength;
    if (this.#kept.bytes > this.#kept.bytesMax) this.#kept.parts = undefined;
    else this.#kept.parts.push(bytes);
  }

  #complete(): void {
    this.#ended = true;
    const waiting = this.#whenComplete;
    this.#whenComplete = [];
    for (const run of waiting) run();
  }

  /** Bytes of the body, before compression. */
  get bodyBytes(): number {
    return this.#bytes;
  }

  /** Whether the client takes a compressed body; for answers that are sent part by part. */
  get acceptsGzip(): boolean {
    return !this.#options.isHead && this.#options.acceptsGzip();
  }

  /** Anyone who compresses what it writes says here how large it was before. */
  countBody(bytes: number): void {
    this.#bytes = bytes;
  }

  header(name: string): HeaderValue | undefined {
    return this.#headers.get(name);
  }

  setHeader(name: string, value: HeaderValue): void {
    // A stage may still be at work when its time is over and the answer was given without it.
    if (this.#ended) throw clientGone();
    assert(!this.started, 'headers go before the body');
    this.#headers.set(name, value);
  }

  addHeader(name: string, value: string): void {
    const known = this.#headers.get(name);
    if (known === undefined) this.setHeader(name, value);
    else this.setHeader(name, typeof known === 'string' ? [known, value] : [...known, value]);
  }

  begin(code: number): void {
    if (this.#ended) throw clientGone();
    assert(!this.started, 'an answer begins once');
    this.#begun(code);
    this.#options.outbound.head(code, this.#headers);
  }

  /** Resolves when there is room for more; rejects with `ClientGone` when there is no one left to read. */
  async write(chunk: Uint8Array | string): Promise<void> {
    const { outbound, isHead } = this.#options;
    if (this.#ended || outbound.gone) throw clientGone();
    assert(this.started, 'write comes after begin');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.#bytes += bytes.byteLength;
    if (this.#headers.get('content-encoding') === undefined) this.#keep(bytes);
    if (isHead || bytes.byteLength === 0 || outbound.write(bytes)) return;
    await outbound.drained();
    if (outbound.gone) throw clientGone();
  }

  async end(): Promise<void> {
    if (this.#ended) return;
    this.#complete();
    await this.#options.outbound.end();
  }

  async send(code: number, contentType: string, body: Uint8Array | string): Promise<void> {
    const { outbound, isHead } = this.#options;
    let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
    const plainBytes = bytes.byteLength;
    const plain = bytes;
    this.setHeader('content-type', contentType);
    if (plainBytes > GZIP_BYTES_MIN && this.acceptsGzip) {
      bytes = await compress(bytes, { level: GZIP_LEVEL });
      this.setHeader('content-encoding', 'gzip');
      this.addHeader('vary', 'Accept-Encoding');
    }
    this.setHeader('content-length', String(bytes.byteLength));
    if (outbound.whole && !isHead) {
      if (outbound.gone) throw clientGone();
      this.#begun(code);
      this.#keep(plain);
      this.#bytes = plainBytes;
      this.#complete();
      await outbound.whole(code, this.#headers, bytes);
      return;
    }
    this.begin(code);
    await this.write(bytes);
    this.#bytes = plainBytes;
    await this.end();
  }

  /** The handler upgraded the connection; the code is for logs and metrics. */
  hijacked(code: number): void {
    this.#begun(code);
    this.#complete();
  }

  abort(): void {
    this.#complete();
    this.#options.outbound.destroy();
  }
}

export const JSON_TYPE = 'application/json';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

export const sendJson = (response: ApiResponse, code: number, value: unknown): Promise<void> =>
  response.send(code, JSON_TYPE, `${jsonText(value)}\n`);

/** As Go's `http.Error` answers: text with a newline, and no guessing of its type. */
export const sendTextError = (response: ApiResponse, code: number, text: string): Promise<void> => {
  response.setHeader('x-content-type-options', 'nosniff');
  return response.send(code, TEXT_TYPE, `${text}\n`);
};

/** As the handler of Go answers an unknown path. */
export const sendPageNotFound = (response: ApiResponse): Promise<void> =>
  sendTextError(response, 404, '404 page not found');

export const sendStatusError = (response: ApiResponse, error: StatusError): Promise<void> => {
  const retryAfterSeconds = error.details?.retryAfterSeconds;
  if (retryAfterSeconds !== undefined && retryAfterSeconds > 0)
    response.setHeader('retry-after', String(retryAfterSeconds));
  return sendJson(response, error.code, error.status);
};
