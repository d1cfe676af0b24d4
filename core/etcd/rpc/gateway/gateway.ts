import { assert } from '../../../base/assert.ts';
import type { Clock } from '../../../base/clock.ts';
import type { HttpExchange } from '../grpc/http-exchange.ts';
import type { Method, RpcObserver } from '../grpc/method.ts';
import { sendPlain, type HttpHandler } from '../grpc/plain-http.ts';
import type { Status } from '../grpc/status.ts';
import { parseTimeoutMs } from '../grpc/timeout.ts';
import { GatewayCall, type GatewayCallOptions } from './gateway-call.ts';
import { HTTP_STATUS, statusBody } from './http-status.ts';
import { GATEWAY_ROUTES } from './routes.ts';

export interface GatewayOptions {
  readonly methods: readonly Method[];
  /** The largest message of gRPC. In JSON its bytes are base64, and its names are spelled out. */
  readonly messageBytesMax: number;
  readonly clock: Clock;
  readonly observer: RpcObserver;
  readonly admit: GatewayCallOptions['admit'];
  readonly statusOf: GatewayCallOptions['statusOf'];
  /** Whether the name in a client's certificate counts as a user: through the gateway it cannot. */
  readonly isCommonNameUsed: () => boolean;
}

const PREFIX = '/v3/';
const OLD_PREFIX = '/v3beta/';
const JSON_OVERHEAD = 2;
const COMMON_NAME_IGNORED =
  'CommonName of client sending a request against gateway will be ignored and not used as expected\n';

export interface Gateway {
  /** Takes what is for the gateway; the rest is passed on. */
  serve(next: HttpHandler): HttpHandler;
  /** Ends what has no end of its own, now and from now on. */
  endStreams(status: Status): void;
}

/** etcd's API as JSON: the same methods, found by their paths instead of by their names. */
export const createGateway = (options: GatewayOptions): Gateway => {
  const byName = new Map(options.methods.map((method) => [`${method.service}/${method.method}`, method]));
  const byPath = new Map<string, Method>();
  for (const [path, name] of Object.entries(GATEWAY_ROUTES)) {
    const method = byName.get(name);
    assert(method !== undefined, `${path} has a method ${name}`);
    byPath.set(path, method);
  }
  const streams = new Set<GatewayCall>();
  let ended: Status | undefined;

  const serve = (exchange: HttpExchange, path: string): void => {
    if (exchange.secure && options.isCommonNameUsed() && exchange.commonName())
      return sendPlain(exchange, {
        status: 400,
        headers: { 'x-content-type-options': 'nosniff' },
        body: COMMON_NAME_IGNORED,
      });
    const method = byPath.get(path);
    if (method === undefined) return refuse(exchange, { code: 'NotFound', text: 'Not Found' });
    if (exchange.method !== 'POST')
      return refuse(exchange, { code: 'Unimplemented', text: 'Method Not Allowed' });
    const timeout = exchange.header('grpc-timeout');
    const timeoutMs = timeout === undefined ? undefined : parseTimeoutMs(timeout);
    if (timeout !== undefined && timeoutMs === undefined)
      return refuse(exchange, { code: 'InvalidArgument', text: `invalid grpc-timeout: ${timeout}` });
    if (ended !== undefined && method.type !== 'unary') return refuse(exchange, ended);
    const { clock, observer, admit, statusOf, messageBytesMax } = options;
    const call = new GatewayCall({
      method,
      exchange,
      bodyBytesMax: messageBytesMax * JSON_OVERHEAD,
      timeoutMs,
      clock,
      observer,
      admit,
      statusOf,
      onOver: (over) => streams.delete(over),
    });
    if (method.type !== 'unary') streams.add(call);
    void call.run();
  };
  return {
    serve: (next) => (exchange) => {
      const path = exchange.target.split('?', 1)[0]!;
      const current = path.startsWith(OLD_PREFIX) ? PREFIX + path.slice(OLD_PREFIX.length) : path;
      if (current.startsWith(PREFIX)) serve(exchange, current);
      else next(exchange);
    },
    endStreams(status) {
      ended = status;
      for (const call of [...streams]) call.fail(status);
    },
  };
};

const refuse = (exchange: HttpExchange, status: Status): void =>
  exchange.answer(
    { status: HTTP_STATUS[status.code], headers: { 'content-type': 'application/json' } },
    Buffer.from(statusBody(status)),
  );
