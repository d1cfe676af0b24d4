import { messageOf } from '../../../base/errors.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { MalformedError } from '../../proto/wire/index.ts';
import type { Http2Stream, StreamOwner } from '../../../base/node/http2/server/stream.ts';
import { Deframer, MESSAGE_HEAD_BYTES } from './deframer.ts';
import type { DuplexStream, Method, Peer, RpcObserver } from './method.ts';
import { OK, OK_TRAILERS, RESPONSE_HEAD, StatusError, trailersOf, trailersOnlyOf } from './status.ts';
import type { Status } from './status.ts';

/** Below this much queued, a stream that waited continues. */
const DRAINED_BYTES = 64 * 1024;

export interface CallOptions {
  readonly method: Method;
  readonly stream: Http2Stream;
  readonly peer: Peer;
  readonly messageBytesMax: number;
  readonly timeoutMs: number | undefined;
  readonly clock: Clock;
  readonly observer: RpcObserver;
  /** May refuse a call before its handler sees it. */
  readonly admit: (context: DuplexStream<unknown, unknown>, request: unknown) => void;
  readonly statusOf: (error: unknown) => Status;
  /** Called once, when nothing more is sent or received. */
  readonly onOver: (call: Call) => void;
}

/** One RPC from its first header to its status. Handlers see it as their context and their stream. */
export class Call implements StreamOwner, DuplexStream<unknown, unknown> {
  readonly method: Method;
  readonly peer: Peer;
  readonly #options: CallOptions;
  readonly #stream: Http2Stream;
  readonly #deframer: Deframer;
  readonly #startedMs: number;
  #deadline: Disposable | undefined;
  #abort: AbortController | undefined;
  #headSent = false;
  #over = false;
  /** Encoded requests that the handler has not asked for; bounded by the stream's window. */
  readonly #requests: Uint8Array[] = [];
  #requestsEnded = false;
  #receiveError: StatusError | undefined;
  #wakeReceiver: (() => void) | undefined;
  #wakeSenders: (() => void)[] = [];

  constructor(options: CallOptions) {
    this.method = options.method;
    this.peer = options.peer;
    this.#options = options;
    this.#stream = options.stream;
    this.#deframer = new Deframer({
      messageBytesMax: options.messageBytesMax,
      encoding: options.stream.header('grpc-encoding'),
    });
    this.#startedMs = options.clock.monotonicMs();
    options.observer.started(this.method, options.stream.header('client-api-version'));
    if (options.timeoutMs !== undefined)
      this.#deadline = options.clock.after(options.timeoutMs, () =>
        this.fail({ code: 'DeadlineExceeded', text: 'context deadline exceeded' }),
      );
  }

  /** Bidirectional handlers start immediately; the others start with their request. */
  start(): void {
    const { method } = this;
    if (method.type === 'bidi_stream')
      this.#run(() => {
        this.#options.admit(this, undefined);
        return method.handle(this);
      });
  }

  // --- what handlers use ---

  get over(): boolean {
    return this.#over;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#over) this.#abort.abort();
    return this.#abort.signal;
  }

  metadata(name: string): string | undefined {
    return this.#stream.header(name);
  }

  fail(status: Status): void {
    this.#finish(status);
  }

  get queuedBytes(): number {
    return this.#stream.queuedBytes;
  }

  send(message: unknown): void {
    this.sendEncoded(this.method.response.encode(message, MESSAGE_HEAD_BYTES));
  }

  sendEncoded(bytes: Buffer): void {
    if (this.#over) return;
    writeMessageHead(bytes);
    if (!this.#headSent) this.#stream.sendHeaders(RESPONSE_HEAD);
    this.#headSent = true;
    this.#stream.sendData(bytes);
    this.#options.observer.messageSent(this.method, bytes.length);
  }

  async drained(): Promise<boolean> {
    while (!this.#over && this.#stream.queuedBytes > DRAINED_BYTES)
      await new Promise<void>((resolve) => this.#wakeSenders.push(resolve));
    return !this.#over;
  }

  async receive(): Promise<unknown> {
    for (;;) {
      const bytes = this.#requests.shift();
      if (bytes !== undefined) {
        this.#stream.consume(bytes.length + MESSAGE_HEAD_BYTES);
        return this.#decode(bytes);
      }
      if (this.#receiveError !== undefined) throw this.#receiveError;
      if (this.#requestsEnded || this.#over) return undefined;
      await new Promise<void>((resolve) => (this.#wakeReceiver = resolve));
    }
  }

  // --- what the connection tells ---

  onData(bytes: Uint8Array): void {
    if (this.#over) return;
    const streaming = this.method.type === 'bidi_stream';
    // One request is bounded by its own size; a stream of them by what the handler takes.
    if (!streaming) this.#stream.consume(bytes.length);
    try {
      for (const message of this.#deframer.push(bytes)) this.#requests.push(message);
    } catch (error) {
      const status = error instanceof StatusError ? error : new StatusError('Internal', messageOf(error));
      if (streaming) this.#receiveError = status;
      else this.#finish(status.status);
    }
    this.#wake();
  }

  onEnd(): void {
    if (this.#over) return;
    this.#requestsEnded = true;
    if (this.#deframer.partial) this.#receiveError ??= new StatusError('Internal', 'unexpected EOF');
    if (this.method.type === 'bidi_stream') this.#wake();
    else this.#onSingleRequest();
  }

  onDrain(): void {
    if (this.#stream.queuedBytes <= DRAINED_BYTES) this.#wake();
  }

  onClosed(how: 'done' | 'reset'): void {
    if (how === 'reset') this.#finish({ code: 'Canceled', text: 'context canceled' });
  }

  #onSingleRequest(): void {
    const { method } = this;
    const bytes = this.#requests[0];
    if (bytes === undefined || this.#requests.length > 1) {
      const text = `cardinality violation: expected one request for ${method.method}, got ${this.#requests.length}`;
      this.#finish(this.#receiveError?.status ?? { code: 'Internal', text });
      return;
    }
    if (method.type === 'unary') this.#runUnary(method, bytes);
    else if (method.type === 'server_stream')
      this.#run(() => {
        const request = this.#decode(bytes);
        this.#options.admit(this, request);
        return method.handle(request, this);
      });
  }

  /** Apart from `#run` because it is the hot path: no promise unless the handler makes one. */
  #runUnary(method: Extract<Method, { type: 'unary' }>, bytes: Uint8Array): void {
    try {
      const request = this.#decode(bytes);
      this.#options.admit(this, request);
      const response = method.handle(request, this);
      if (response instanceof Promise) response.then(this.#answer, this.#refuse);
      else this.#answer(response);
    } catch (error) {
      this.#refuse(error);
    }
  }

  readonly #answer = (response: unknown): void => {
    if (this.#over) return;
    let bytes: Buffer;
    try {
      bytes = this.method.response.encode(response, MESSAGE_HEAD_BYTES);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    writeMessageHead(bytes);
    this.#options.observer.messageSent(this.method, bytes.length);
    this.#end(OK);
    this.#stream.answer(RESPONSE_HEAD, bytes, OK_TRAILERS);
  };

  readonly #refuse = (error: unknown): void => {
    this.#finish(error instanceof StatusError ? error.status : this.#options.statusOf(error));
  };

  #run(handle: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      await handle();
      this.#finish(OK);
    };
    run().catch(this.#refuse);
  }

  #decode(bytes: Uint8Array): unknown {
    this.#options.observer.messageReceived(this.method, bytes.length);
    try {
      return this.method.request.decode(bytes);
    } catch (cause) {
      if (!(cause instanceof MalformedError)) throw cause;
      throw new StatusError('Internal', `grpc: error unmarshalling request: ${cause.message}`, { cause });
    }
  }

  #finish(status: Status): void {
    if (this.#over) return;
    this.#end(status);
    if (this.#stream.closed) return;
    if (this.#headSent || status.code === 'OK') {
      if (!this.#headSent) this.#stream.sendHeaders(RESPONSE_HEAD);
      this.#stream.end(trailersOf(status));
    } else this.#stream.end(trailersOnlyOf(status));
  }

  #end(status: Status): void {
    this.#over = true;
    this.#deadline?.dispose();
    this.#options.observer.handled(
      this.method,
      status.code,
      this.#options.clock.monotonicMs() - this.#startedMs,
      this.peer.address,
    );
    this.#abort?.abort();
    this.#wake();
    this.#options.onOver(this);
  }

  #wake(): void {
    const receiver = this.#wakeReceiver;
    this.#wakeReceiver = undefined;
    receiver?.();
    if (this.#wakeSenders.length === 0) return;
    const senders = this.#wakeSenders;
    this.#wakeSenders = [];
    for (const sender of senders) sender();
  }
}

const writeMessageHead = (bytes: Buffer): void => {
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - MESSAGE_HEAD_BYTES, 1);
};
