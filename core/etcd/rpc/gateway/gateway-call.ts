import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { MESSAGE_HEAD_BYTES } from '../grpc/deframer.ts';
import type { HttpExchange } from '../grpc/http-exchange.ts';
import type { DuplexStream, Method, Peer, RpcObserver } from '../grpc/method.ts';
import { OK, StatusError, type Status } from '../grpc/status.ts';
import { HTTP_STATUS, statusBody } from './http-status.ts';
import { JsonMessageError, messageFromJson, messageToJson } from './json-message.ts';
import { JsonSyntaxError } from './json-reader.ts';
import { JsonSplitter } from './json-splitter.ts';

/** Below this much queued, a stream that waited continues. */
const DRAINED_BYTES = 64 * 1024;
/** A request that is not a stream has to be whole by then. */
const BODY_TIMEOUT_MS = 60_000;
const CANCELED: Status = { code: 'Canceled', text: 'context canceled' };
const JSON_HEADERS = { 'content-type': 'application/json' };
const ANSWER_HEADERS = { ...JSON_HEADERS, 'grpc-metadata-content-type': 'application/grpc' };

export interface GatewayCallOptions {
  readonly method: Method;
  readonly exchange: HttpExchange;
  readonly bodyBytesMax: number;
  readonly timeoutMs: number | undefined;
  readonly clock: Clock;
  readonly observer: RpcObserver;
  readonly admit: (context: DuplexStream<unknown, unknown>, request: unknown) => void;
  readonly statusOf: (error: unknown) => Status;
  /** Called once, when nothing more is sent or received. */
  readonly onOver: (call: GatewayCall) => void;
}

/** One RPC whose messages are JSON values in the bodies of an HTTP exchange. */
export class GatewayCall implements DuplexStream<unknown, unknown> {
  readonly method: Method;
  readonly peer: Peer;
  readonly #options: GatewayCallOptions;
  readonly #exchange: HttpExchange;
  readonly #splitter: JsonSplitter;
  readonly #values: string[] = [];
  readonly #startedMs: number;
  #bodyEnded = false;
  #deadline: Disposable | undefined;
  #bodyLimit: Disposable | undefined;
  #abort: AbortController | undefined;
  #begun = false;
  #over = false;
  #wakeSenders: (() => void)[] = [];

  constructor(options: GatewayCallOptions) {
    const { method, exchange, clock, timeoutMs } = options;
    this.method = method;
    this.#options = options;
    this.#exchange = exchange;
    // A certificate belongs to the connection's owner, not to anyone who a gateway speaks for: names come from tokens.
    this.peer = { address: exchange.address, commonName: () => undefined };
    this.#splitter = new JsonSplitter(options.bodyBytesMax);
    this.#startedMs = clock.monotonicMs();
    options.observer.started(method, exchange.header('grpc-metadata-client-api-version'));
    if (timeoutMs !== undefined)
      this.#deadline = clock.after(timeoutMs, () =>
        this.fail({ code: 'DeadlineExceeded', text: 'context deadline exceeded' }),
      );
    exchange.listen({
      onDrain: () => this.#wake(),
      onClosed: () => this.#end(CANCELED),
    });
  }

  /** Runs to its end; never rejects. */
  async run(): Promise<void> {
    try {
      await this.#serve();
      this.#finish(OK);
    } catch (error) {
      this.#finish(error instanceof StatusError ? error.status : this.#options.statusOf(error));
    }
  }

  async #serve(): Promise<void> {
    const { method } = this;
    const { admit } = this.#options;
    if (method.type === 'bidi_stream') {
      admit(this, undefined);
      return method.handle(this);
    }
    const request = await this.#onlyRequest();
    if (this.#over) return;
    admit(this, request);
    if (method.type === 'server_stream') return method.handle(request, this);
    this.#answer(await method.handle(request, this));
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

  /** `Authorization` as it is, everything else behind `Grpc-Metadata-`. */
  metadata(name: string): string | undefined {
    return this.#exchange.header(name === 'authorization' ? name : `grpc-metadata-${name}`);
  }

  fail(status: Status): void {
    this.#finish(status);
  }

  get queuedBytes(): number {
    return this.#exchange.queuedBytes;
  }

  send(message: unknown): void {
    this.sendEncoded(this.method.response.encode(message, MESSAGE_HEAD_BYTES));
  }

  sendEncoded(bytes: Buffer): void {
    if (this.#over) return;
    const json = this.#jsonOf(bytes.subarray(MESSAGE_HEAD_BYTES));
    this.#begin(200, ANSWER_HEADERS);
    this.#exchange.write(Buffer.from(`{"result":${json}}\n`));
    this.#options.observer.messageSent(this.method, bytes.length);
  }

  async drained(): Promise<boolean> {
    while (!this.#over && this.#exchange.queuedBytes > DRAINED_BYTES)
      await new Promise<void>((resolve) => this.#wakeSenders.push(resolve));
    return !this.#over;
  }

  /** As etcd's gateway does it, a value that cannot be read ends the client's part and is not answered. */
  async receive(): Promise<unknown> {
    const text = await this.#nextValue();
    if (text === undefined || this.#over) return undefined;
    try {
      return this.#decode(text);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#bodyEnded = true;
      this.#values.length = 0;
      return undefined;
    }
  }

  // --- its parts ---

  /** An empty body is an empty request; what follows the first value is not looked at. */
  async #onlyRequest(): Promise<unknown> {
    this.#bodyLimit = this.#options.clock.after(BODY_TIMEOUT_MS, () => {
      this.#end(CANCELED);
      this.#exchange.destroy();
    });
    const text = await this.#nextValue();
    this.#bodyLimit.dispose();
    return this.#over ? undefined : this.#decode(text ?? '{}');
  }

  async #nextValue(): Promise<string | undefined> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) return value;
      if (this.#bodyEnded || this.#over) return undefined;
      const chunk = await this.#exchange.read();
      if (chunk !== undefined) this.#values.push(...this.#splitter.push(chunk));
      else {
        this.#bodyEnded = true;
        const rest = this.#splitter.rest();
        if (rest !== undefined) this.#values.push(rest);
      }
      if (this.#splitter.isTooLong)
        throw new StatusError(
          'ResourceExhausted',
          `grpc: received message larger than max (${this.#splitter.waitingBytes} vs. ${this.#options.bodyBytesMax})`,
        );
    }
  }

  #decode(text: string): unknown {
    const { request } = this.method;
    this.#options.observer.messageReceived(this.method, text.length);
    try {
      return request.create(messageFromJson(request, text) as never);
    } catch (cause) {
      if (cause instanceof JsonSyntaxError || cause instanceof JsonMessageError)
        throw new StatusError('InvalidArgument', cause.message, { cause });
      throw cause;
    }
  }

  /** Through its encoding: handlers give parts of messages in encoded form. */
  #jsonOf(encoded: Uint8Array): string {
    const { response } = this.method;
    return messageToJson(response, response.decode(encoded));
  }

  #answer(response: unknown): void {
    if (this.#over) return;
    const encoded = this.method.response.encode(response);
    const json = this.#jsonOf(encoded);
    this.#options.observer.messageSent(this.method, encoded.length);
    this.#begun = true;
    this.#end(OK);
    this.#exchange.answer({ status: 200, headers: ANSWER_HEADERS }, Buffer.from(json));
  }

  #begin(status: number, headers: Readonly<Record<string, string>>): void {
    if (!this.#begun) this.#exchange.begin({ status, headers });
    this.#begun = true;
  }

  #finish(status: Status): void {
    if (this.#over) return;
    this.#end(status);
    if (this.method.type === 'unary') {
      this.#exchange.answer(
        {
          status: HTTP_STATUS[status.code],
          headers:
            status.code === 'Unauthenticated'
              ? { ...JSON_HEADERS, 'www-authenticate': status.text }
              : JSON_HEADERS,
        },
        Buffer.from(statusBody(status)),
      );
      return;
    }
    this.#begin(HTTP_STATUS[status.code], JSON_HEADERS);
    if (status.code !== 'OK') this.#exchange.write(Buffer.from(`{"error":${statusBody(status)}}\n`));
    this.#exchange.end();
  }

  #end(status: Status): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline?.dispose();
    this.#bodyLimit?.dispose();
    const { observer, clock, onOver } = this.#options;
    observer.handled(this.method, status.code, clock.monotonicMs() - this.#startedMs, this.peer.address);
    this.#abort?.abort();
    this.#wake();
    onOver(this);
  }

  #wake(): void {
    for (const sender of this.#wakeSenders.splice(0)) sender();
  }
}
