import type { Clock } from '../../../base/clock.ts';
import { assert } from '../../../base/assert.ts';
import { encodeHeaders } from '../../../base/node/http2/hpack.ts';
import type { Http2Stream } from '../../../base/node/http2/server/stream.ts';
import { Call } from './call.ts';
import type { CallOptions } from './call.ts';
import type { Method, Peer, RpcObserver } from './method.ts';
import { http2Exchange } from './http-exchange.ts';
import type { ExchangePeer } from './http-exchange.ts';
import type { HttpHandler } from './plain-http.ts';
import { trailersOnlyOf } from './status.ts';
import type { CodeName, Status } from './status.ts';
import { parseTimeoutMs } from './timeout.ts';

export interface RouterOptions {
  readonly methods: readonly Method[];
  readonly messageBytesMax: number;
  readonly clock: Clock;
  readonly observer: RpcObserver;
  readonly admit: CallOptions['admit'];
  readonly statusOf: CallOptions['statusOf'];
  /** For what is not gRPC. */
  readonly http: HttpHandler;
}

const METHOD_NOT_ALLOWED = encodeHeaders([{ name: ':status', value: '405' }]);

/** Finds the method that a stream asks for and starts its call; whatever is not gRPC goes to the HTTP handler. */
export class Router {
  readonly #options: RouterOptions;
  readonly #methods = new Map<string, Method>();
  readonly #services = new Set<string>();
  /** Calls of both directions: only their clients end them. */
  readonly #streams = new Set<Call>();
  #ended: Status | undefined;

  constructor(options: RouterOptions) {
    this.#options = options;
    for (const method of options.methods) {
      const path = `/${method.service}/${method.method}`;
      assert(!this.#methods.has(path), `${path} is served once`);
      this.#methods.set(path, method);
      this.#services.add(method.service);
    }
  }

  route(stream: Http2Stream, peer: Peer & ExchangePeer): void {
    const { http, clock, observer, admit, statusOf, messageBytesMax } = this.#options;
    const type = stream.header('content-type') ?? '';
    if (!/^application\/grpc($|[+;])/.test(type)) {
      http(http2Exchange(stream, peer));
      return;
    }
    if (stream.header(':method') !== 'POST') {
      stream.end(METHOD_NOT_ALLOWED);
      return;
    }
    const path = stream.header(':path')!;
    const method = this.#methods.get(path);
    if (method === undefined) {
      refuse(stream, 'Unimplemented', this.#unknown(path));
      return;
    }
    const timeout = stream.header('grpc-timeout');
    const timeoutMs = timeout === undefined ? undefined : parseTimeoutMs(timeout);
    if (timeout !== undefined && timeoutMs === undefined) {
      refuse(
        stream,
        'Internal',
        `malformed grpc-timeout: transport: timeout string is malformed: "${timeout}"`,
      );
      return;
    }
    if (this.#ended !== undefined && method.type === 'bidi_stream') {
      stream.end(trailersOnlyOf(this.#ended));
      return;
    }
    const call = new Call({
      method,
      stream,
      peer,
      messageBytesMax,
      timeoutMs,
      clock,
      observer,
      admit,
      statusOf,
      onOver: (over) => this.#streams.delete(over),
    });
    if (method.type === 'bidi_stream') this.#streams.add(call);
    stream.owner = call;
    call.start();
  }

  /** Ends what has no end of its own, now and from now on: a server that closes would wait for it in vain. */
  endStreams(status: Status): void {
    this.#ended = status;
    for (const call of [...this.#streams]) call.fail(status);
  }

  /** grpc-go's own sentences: clients probe for services by them. */
  #unknown(path: string): string {
    const slash = path.lastIndexOf('/');
    if (!path.startsWith('/') || slash <= 0) return `malformed method name: "${path}"`;
    const service = path.slice(1, slash);
    return this.#services.has(service)
      ? `unknown method ${path.slice(slash + 1)} for service ${service}`
      : `unknown service ${service}`;
  }
}

const refuse = (stream: Http2Stream, code: CodeName, text: string): void =>
  stream.end(trailersOnlyOf({ code, text }));
