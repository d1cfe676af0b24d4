import { jsonText } from '../../api/meta/json-text.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import type { Impersonation, Query, RawRequest, TokenSource } from '../client.ts';
import { errorOfAnswer, readText } from './body.ts';
import { pause } from './pause.ts';
import { requestMetricsOf, type RequestMetrics } from './request-metrics.ts';
import { RequestScope } from './request-scope.ts';
import { pauseAfterFailureMs, RETRIES_MAX, waitAskedForMs } from './retry.ts';
import type { TokenBucket } from './token-bucket.ts';
import type { Transport, WireRequest, WireResponse } from './transport.ts';
import type { UnansweredWrites } from './unanswered-writes.ts';
import { isFirstOf, parseWarnings, type Warning } from './warnings.ts';

/** One try of a request, for the hook that shows what a component says to its server. */
export interface RequestTrace {
  readonly method: string;
  readonly path: string;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly attempt: number;
  /** Waiting for the client's own rate limit. */
  readonly waitedMs: number;
  /** Until the head of the answer. */
  readonly durationMs: number;
}

/** Gives the headers that say who asks, and is told when the server does not believe them. */
export interface Authenticator {
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  rejected(): void;
}

export interface RequesterOptions {
  readonly transport: Transport;
  /** The label of the metrics: host and port. */
  readonly host: string;
  /** In front of every path, for servers that are not at the root of their host. */
  readonly basePath?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry?: Registry;
  readonly authenticator?: Authenticator;
  readonly limiter?: TokenBucket;
  readonly timeoutMs: number;
  onWarning?(warning: Warning): void;
  onTrace?(trace: RequestTrace): void;
}

/** What a derived client adds to each of its requests. */
export interface Identity {
  readonly userAgent: string;
  readonly impersonation?: Impersonation | undefined;
  /** Instead of the connection's own credentials. */
  readonly token?: TokenSource | undefined;
}

/** Ends the requests of a leader whose time is over. */
export interface Fence {
  readonly signal: AbortSignal;
  /** Ends also the changes that were sent and are counted. */
  readonly end: AbortSignal;
  /** Where changes that are sent are counted until they are answered; they end with `signal` when there is none. */
  readonly writes: readonly UnansweredWrites[];
  /** Right before each request is sent; may abort the signal. */
  check(): void;
}

export interface Sent {
  readonly response: WireResponse;
  readonly scope: RequestScope;
}

const ERROR_BYTES_MAX = 1024 * 1024;

/** Sends requests with all that is between a caller and the wire: identity, rate limit, deadline, retries. */
export class Requester {
  readonly #options: RequesterOptions;
  readonly #metrics: RequestMetrics | undefined;

  constructor(options: RequesterOptions) {
    this.#options = options;
    this.#metrics = options.registry && requestMetricsOf(options.registry);
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /**
   * The answer, which is 2xx; any other is thrown as StatusError. The deadline still runs: anyone who reads only the
   * head ends it. The caller disposes the scope when the body is read.
   */
  async send(request: RawRequest, identity: Identity, fence: Fence | undefined): Promise<Sent> {
    const { clock, timeoutMs } = this.#options;
    const scope = new RequestScope({
      caller: request.signal,
      fence: fence?.signal,
      fenceEnd: isHeldOnceSent(request.method, fence) ? fence?.end : undefined,
    });
    const what = `${request.method} ${request.path}`;
    scope.startDeadline(clock, request.timeoutMs ?? timeoutMs, what);
    try {
      const response = await this.#try(this.#wireRequest(request, identity), scope, fence, identity.token);
      if (response.status >= 200 && response.status < 300) return { response, scope };
      const text = await readText(response, ERROR_BYTES_MAX);
      if (response.status === 401) (identity.token ?? this.#options.authenticator)?.rejected();
      throw errorOfAnswer(response, text, what);
    } catch (error) {
      scope.dispose();
      throw error;
    }
  }

  dispose(): void {
    this.#options.transport.dispose();
  }

  async #try(
    request: WireRequest,
    scope: RequestScope,
    fence: Fence | undefined,
    token: TokenSource | undefined,
  ): Promise<WireResponse> {
    const { clock, random, host, authenticator } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const waitedMs = await this.#waitForToken(request.method, scope);
      const identity = token
        ? { authorization: `Bearer ${await token.token(scope.signal)}` }
        : await authenticator?.headers(scope.signal);
      fence?.check();
      scope.throwIfOver();
      const startedMs = clock.monotonicMs();
      try {
        const headers = { ...request.headers, ...identity };
        const response = await this.#carry({ ...request, headers }, scope, fence);
        this.#record(request, { attempt, waitedMs, startedMs, status: response.status });
        this.#warn(response);
        const askedMs = attempt < RETRIES_MAX ? waitAskedForMs(response) : undefined;
        if (askedMs === undefined) return response;
        response.dispose();
        scope.letGo();
        this.#metrics?.retries.labels(String(response.status), request.method, host).inc();
        await pause(clock, askedMs, scope.signal);
      } catch (error) {
        if (scope.signal.aborted) throw scope.signal.reason;
        this.#record(request, { attempt, waitedMs, startedMs, error: messageOf(error) });
        const pauseMs = pauseAfterFailureMs(error, { method: request.method, attempt }, random);
        if (pauseMs === undefined) throw error;
        scope.letGo();
        this.#metrics?.retries.labels('<error>', request.method, host).inc();
        await pause(clock, pauseMs, scope.signal);
      }
    }
  }

  #carry(request: WireRequest, scope: RequestScope, fence: Fence | undefined): Promise<WireResponse> {
    const { transport } = this.#options;
    if (!fence || !isHeldOnceSent(request.method, fence))
      return transport.send({ ...request, signal: scope.signal });
    let over: readonly (() => void)[] = [];
    const beforeSent = (): void => {
      fence.check();
      if (scope.wireSignal.aborted) return;
      scope.hold();
      over = fence.writes.map((writes) => writes.sent());
    };
    const answer = transport.send({ ...request, signal: scope.wireSignal, beforeSent }).finally(() => {
      scope.offWire();
      for (const done of over) done();
    });
    return unlessLeft(answer, scope.signal);
  }

  async #waitForToken(method: string, scope: RequestScope): Promise<number> {
    const { limiter, clock, host } = this.#options;
    if (!limiter) return 0;
    const waitMs = limiter.reserveMs();
    this.#metrics?.waits.labels(method, host).observe(waitMs / 1000);
    if (waitMs === 0) return 0;
    try {
      await pause(clock, waitMs, scope.signal);
    } catch (error) {
      limiter.giveBack();
      throw error;
    }
    return waitMs;
  }

  #record(
    request: WireRequest,
    seen: {
      readonly attempt: number;
      readonly waitedMs: number;
      readonly startedMs: number;
      readonly status?: number;
      readonly error?: string;
    },
  ): void {
    const { clock, host, onTrace } = this.#options;
    const durationMs = clock.monotonicMs() - seen.startedMs;
    const code = seen.status === undefined ? '<error>' : String(seen.status);
    this.#metrics?.requests.labels(code, request.method, host).inc();
    this.#metrics?.durations.labels(request.method, host).observe(durationMs / 1000);
    onTrace?.({
      method: request.method,
      path: request.path,
      status: seen.status,
      error: seen.error,
      attempt: seen.attempt,
      waitedMs: seen.waitedMs,
      durationMs,
    });
  }

  #warn(response: WireResponse): void {
    const header = response.headers['warning'];
    if (header === undefined) return;
    for (const warning of parseWarnings(header)) {
      if (this.#options.onWarning) this.#options.onWarning(warning);
      else if (isFirstOf(warning))
        this.#options.log.write('warn', 'the API server warns', { warning: warning.text });
    }
  }

  #wireRequest(request: RawRequest, identity: Identity): WireRequest {
    const { body } = request;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const bytes = body === undefined ? undefined : isRaw ? body : jsonText(body);
    return {
      method: request.method,
      path: `${this.#options.basePath ?? ''}${request.path}${queryText(request.query)}`,
      headers: {
        accept: request.accept ?? 'application/json',
        'user-agent': identity.userAgent,
        ...(bytes !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
        ...impersonationHeaders(identity.impersonation),
        ...request.headers,
      },
      ...(bytes !== undefined && { body: bytes }),
    };
  }
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

const isHeldOnceSent = (method: string, fence: Fence | undefined): boolean =>
  fence !== undefined && fence.writes.length > 0 && !isRead(method);

/** Who asked may leave before the answer comes. */
const unlessLeft = (answer: Promise<WireResponse>, signal: AbortSignal): Promise<WireResponse> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
      answer.then(
        (response) => response.dispose(),
        () => undefined,
      );
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

const queryText = (query: Query | undefined): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === '') continue;
    for (const each of Array.isArray(value) ? (value as readonly string[]) : [value])
      parameters.append(name, String(each));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
};

const impersonationHeaders = (
  impersonation: Impersonation | undefined,
): Record<string, string | readonly string[]> => {
  if (!impersonation) return {};
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': impersonation.user };
  if (impersonation.uid !== undefined) headers['impersonate-uid'] = impersonation.uid;
  if (impersonation.groups?.length) headers['impersonate-group'] = impersonation.groups;
  for (const [key, values] of Object.entries(impersonation.extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  return headers;
};
