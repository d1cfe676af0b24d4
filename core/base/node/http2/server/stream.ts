import type { Http2Connection } from './connection.ts';
import { H2_ERROR } from '../frame.ts';
import type { H2ErrorCode } from '../frame.ts';
import type { HeaderField } from '../hpack.ts';

/** What the owner of a stream is told. Nothing is called after `onClosed`. */
export interface StreamOwner {
  /** A piece of the request's body: a view that is valid for this call and as long as it is referenced. */
  onData(bytes: Uint8Array): void;
  /** The request's body is complete. */
  onEnd(): void;
  /** Bytes that waited have been taken by the connection, `queuedBytes` says how many are left; or all was `answered`. */
  onDrain(): void;
  /** The stream is over: answered whole, reset by either side, or its connection is gone. */
  onClosed(how: 'done' | 'reset'): void;
}

/** One request and its answer. Its bytes wait here, not in the socket, so that windows and fairness can apply. */
export class Http2Stream {
  readonly id: number;
  readonly headers: readonly HeaderField[];
  readonly connection: Http2Connection;
  owner: StreamOwner | undefined;
  remoteEnded = false;
  closed = false;
  /** Written by the connection alone. */
  sendWindowBytes: number;
  receiveWindowBytes: number;
  unreportedBytes = 0;
  readonly queue: Buffer[] = [];
  queuedBytes = 0;
  /** When the peer last took some of what waited. */
  progressAtMs = 0;
  /** Of the request: as long as the stream is there, so are its headers. */
  readonly headerBytes: number;
  ending = false;
  /** Whether a request that is answered before its body has come is let continue, instead of being told to stop. */
  lingers = false;
  /** The answer is whole, and the rest of the body still comes. */
  answered = false;
  trailers: Buffer | undefined;

  constructor(
    connection: Http2Connection,
    id: number,
    options: {
      readonly headers: readonly HeaderField[];
      readonly headerBytes: number;
      readonly sendWindowBytes: number;
      readonly receiveWindowBytes: number;
    },
  ) {
    this.connection = connection;
    this.id = id;
    this.headers = options.headers;
    this.headerBytes = options.headerBytes;
    this.sendWindowBytes = options.sendWindowBytes;
    this.receiveWindowBytes = options.receiveWindowBytes;
  }

  header(name: string): string | undefined {
    for (const field of this.headers) if (field.name === name) return field.value;
    return undefined;
  }

  sendHeaders(block: Buffer): void {
    if (!this.closed) this.connection.sender.headers(this, block, false);
  }

  /** Takes ownership of `bytes`. Always accepted: anyone who streams watches `queuedBytes` and waits for onDrain. */
  sendData(bytes: Buffer): void {
    if (this.closed || bytes.length === 0) return;
    this.connection.sender.queue(this, bytes);
  }

  /** Ends the answer after everything queued, with trailers if there are any. */
  end(trailers?: Buffer): void {
    if (this.closed || this.ending) return;
    this.ending = true;
    this.trailers = trailers;
    this.connection.sender.pump(this);
  }

  /** Headers, one piece of data, maybe trailers: what nearly every call answers, in one buffer when windows allow. */
  answer(headers: Buffer, data: Buffer, trailers?: Buffer): void {
    if (!this.closed) this.connection.sender.answer(this, headers, data, trailers);
  }

  reset(code: H2ErrorCode = H2_ERROR.cancel): void {
    if (!this.closed) this.connection.resetStream(this, code);
  }

  /** Lets the peer send as many bytes more. Each byte of onData is given back once. */
  consume(bytes: number): void {
    if (!this.closed && !this.remoteEnded) this.connection.giveStreamCredit(this, bytes);
  }
}
