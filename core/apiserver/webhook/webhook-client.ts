import { jsonText, parseJsonText } from '../../api/meta/json-text.ts';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, StatusError, type KubernetesObject } from '../../api/meta/index.ts';
import { goJsonError } from '../../api/field/go-json-error.ts';
import { dialErrorText } from '../kubelet-proxy/dial-error.ts';
import { errorOfResponse } from './server-response.ts';
import type { ResolveService } from './service-resolver.ts';
import { destinationOf, type Destination, type WebhookTarget } from './target.ts';

/** Twice the largest request: a patch may replace all of an object, and is encoded in base64. */
const RESPONSE_BYTES_MAX = 6 * 1024 * 1024;
const COMPLAINT_BYTES_MAX = 64 * 1024;
/** Go's defaults for idle connections. */
const IDLE_CONNECTION_MS = 90_000;
const IDLE_CONNECTIONS_PER_HOST_MAX = 25;
const CONNECTIONS_PER_HOST_MAX = 256;
const CONNECTIONS_MAX = 1024;
const SECOND_MS = 1000;

export interface WebhookClientOptions {
  readonly resolve: ResolveService;
  readonly clock: Clock;
}

export interface PostOptions {
  /** Told to the webhook, too. Without one the request's own limit counts. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly responseBytesMax?: number | undefined;
  /** The code says it all, as for audit events: a success is answered as an empty object. */
  readonly isBodyIgnored?: boolean;
}

/** A webhook that could not be asked, or whose answer cannot be read. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
  /** What the webhook answered instead, if it answered with a failure. */
  readonly status: StatusError | undefined;
  /** The caller gave up: the client of the request is gone, or its time is over. */
  readonly isCanceled: boolean;

  constructor(
    message: string,
    rest: { readonly cause?: unknown; readonly status?: StatusError; readonly isCanceled?: boolean } = {},
  ) {
    super(message, { cause: rest.cause });
    this.status = rest.status;
    this.isCanceled = rest.isCanceled ?? false;
  }
}

export interface WebhookClient extends Disposable {
  /** POSTs JSON; answers the JSON object that comes back. Fails with a WebhookCallError and nothing else. */
  post(target: WebhookTarget, body: unknown, options: PostOptions): Promise<KubernetesObject>;
}

class DeadlineExceeded extends Error {}
class Canceled extends Error {}
class ResponseTooLarge extends Error {}

interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: Buffer;
}

const readBody = async (answer: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  const isFailure = (answer.statusCode ?? 0) >= 300;
  const limit = isFailure ? COMPLAINT_BYTES_MAX : bytesMax;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > limit) {
      answer.destroy();
      if (isFailure) break;
      throw new ResponseTooLarge(`webhook response is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Upstream rounds up to seconds: `?timeout=10s`. */
const timeoutQuery = (timeoutMs: number | undefined): string =>
  timeoutMs === undefined ? '' : `?timeout=${Math.ceil(timeoutMs / SECOND_MS)}s`;

const isStale = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((error as { readonly code?: string }).code ?? '');

/** Calls webhooks on connections that are kept. Dispose of it to close them. */
export const createWebhookClient = ({ resolve, clock }: WebhookClientOptions): WebhookClient => {
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_CONNECTION_MS,
    maxSockets: CONNECTIONS_PER_HOST_MAX,
    maxTotalSockets: CONNECTIONS_MAX,
    maxFreeSockets: IDLE_CONNECTIONS_PER_HOST_MAX,
    ALPNProtocols: ['http/1.1'],
  });

  const ask = (
    { destination, endpoint, path, ca, credentials, payload }: Asked,
    signal: AbortSignal,
    bytesMax: number,
  ): Promise<Answer> =>
    new Promise((succeed, fail) => {
      const sending = httpsRequest(
        {
          agent,
          host: endpoint.host,
          port: endpoint.port,
          path,
          method: 'POST',
          signal,
          ...(isIP(destination.host) === 0 && { servername: destination.host }),
          ...(ca !== undefined && { ca }),
          ...(credentials?.certPem !== undefined && { cert: credentials.certPem, key: credentials.keyPem }),
          headers: {
            host: destination.authority,
            accept: 'application/json, */*',
            'content-type': 'application/json',
            'content-length': payload.byteLength,
            'user-agent': 'kube-apiserver-admission',
            ...(credentials?.bearerToken !== undefined && {
              authorization: `Bearer ${credentials.bearerToken}`,
            }),
          },
        },
        (answer) => {
          readBody(answer, bytesMax).then(
            (body) =>
              succeed({
                code: answer.statusCode ?? 0,
                contentType: answer.headers['content-type'] ?? '',
                body,
              }),
            fail,
          );
        },
      );
      // For good: a connection may fail a second time after its first failure was told.
      sending.on('error', (error) => {
        fail(Object.assign(error, { isOnReused: sending.reusedSocket }));
      });
      sending.end(payload);
    });

  /** A kept connection that the webhook closed meanwhile says nothing about the webhook. */
  const askOnce = async (asked: Asked, signal: AbortSignal, bytesMax: number): Promise<Answer> => {
    try {
      return await ask(asked, signal, bytesMax);
    } catch (error) {
      const { isOnReused = false } = error as { readonly isOnReused?: boolean };
      if (!isOnReused || !isStale(error) || signal.aborted) throw error;
      return ask(asked, signal, bytesMax);
    }
  };

  return {
    async post(target, body, options) {
      const { timeoutMs, signal, responseBytesMax = RESPONSE_BYTES_MAX, isBodyIgnored = false } = options;
      const destination = readTarget(target);
      const path = `${destination.path}${timeoutQuery(timeoutMs)}`;
      const inGo = (reason: string): string => `Post "https://${destination.authority}${path}": ${reason}`;
      const ending = new AbortController();
      const cancel = (): void => ending.abort(new Canceled());
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      const deadline =
        timeoutMs === undefined
          ? undefined
          : clock.after(timeoutMs, () => ending.abort(new DeadlineExceeded()));
      const aborted = new Promise<never>((_resolve, reject) => {
        const give = (): void => reject(ending.signal.reason as Error);
        if (ending.signal.aborted) give();
        else ending.signal.addEventListener('abort', give, { once: true });
      });
      let endpoint = { host: destination.host, port: destination.port };
      try {
        const { service } = destination;
        if (service)
          endpoint = await Promise.race([resolve({ ...service, port: destination.port }), aborted]);
        const asked: Asked = {
          destination,
          endpoint,
          path,
          ca: target.caBundle ? Buffer.from(target.caBundle, 'base64') : undefined,
          credentials: target.credentials,
          payload: Buffer.from(jsonText(body)),
        };
        const answer = await Promise.race([askOnce(asked, ending.signal, responseBytesMax), aborted]);
        return readAnswer(isBodyIgnored && isSuccess(answer.code) ? { ...answer, body: NO_OBJECT } : answer);
      } catch (error) {
        throw callError(error, ending.signal.reason, (failure) => inGo(reasonOf(failure, endpoint)));
      } finally {
        deadline?.dispose();
        signal.removeEventListener('abort', cancel);
        // Whatever still runs is of no use any more; an answer that was read is not touched by it.
        ending.abort(new Canceled());
        aborted.catch(() => undefined);
      }
    },
    dispose: () => agent.destroy(),
  };
};

interface Asked {
  readonly destination: Destination;
  readonly endpoint: { readonly host: string; readonly port: number };
  readonly path: string;
  readonly ca: Buffer | undefined;
  readonly credentials: WebhookTarget['credentials'];
  readonly payload: Buffer;
}

const readTarget = (target: WebhookTarget): Destination => {
  try {
    return destinationOf(target);
  } catch (error) {
    throw new WebhookCallError(messageOf(error), { cause: error });
  }
};

const reasonOf = (error: unknown, endpoint: { readonly host: string; readonly port: number }): string =>
  error instanceof StatusError || !(error instanceof Error) || !('code' in error)
    ? messageOf(error)
    : dialErrorText(endpoint, error);

/** What was thrown, in the words of the one who calls. */
const callError = (
  error: unknown,
  ended: unknown,
  describe: (error: unknown) => string,
): WebhookCallError => {
  if (error instanceof WebhookCallError) return error;
  if (ended instanceof DeadlineExceeded)
    return new WebhookCallError(describe(new Error('context deadline exceeded')), { cause: error });
  if (ended instanceof Canceled)
    return new WebhookCallError(describe(new Error('context canceled')), { cause: error, isCanceled: true });
  return new WebhookCallError(describe(error), { cause: error });
};

const NO_OBJECT = Buffer.from('{}');
const isSuccess = (code: number): boolean => code >= 200 && code <= 206;

const readAnswer = ({ code, contentType, body }: Answer): KubernetesObject => {
  if (!isSuccess(code)) {
    const status = errorOfResponse(code, contentType, body);
    throw new WebhookCallError(status.message, { status, cause: status });
  }
  if (body.byteLength === 0)
    throw new WebhookCallError(
      `0-length response with status code: ${code} and content type: ${contentType}`,
    );
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    // What does not begin like an object is read as YAML upstream, where any text is a string.
    const why = text.trimStart().startsWith('{') ? goJsonError(text) : notAnObject('string');
    throw new WebhookCallError(`${NO_KIND}${why}`, { cause: error });
  }
  if (!isJsonObject(value))
    throw new WebhookCallError(`${NO_KIND}${notAnObject(Array.isArray(value) ? 'array' : typeof value)}`);
  return value;
};

const NO_KIND = "couldn't get version/kind; json parse error: ";
const notAnObject = (type: string): string =>
  `json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
