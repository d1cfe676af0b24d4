import { manyListen } from '../../base/node/lasting-signal.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import type {
  ByteStream,
  Client,
  FenceOptions,
  Impersonation,
  OwnedClient,
  RawRequest,
  ResourceClient,
  TokenSource,
} from '../client.ts';
import type { Kind } from '../kind.ts';
import { parseExactJson, parseJson, readText } from './body.ts';
import { ClientError } from './errors.ts';
import type { Fence, Identity, Requester, Sent } from './requester.ts';
import { RestResourceClient } from './resource-client.ts';

const fenced = (): ClientError => new ClientError('Fenced', 'no longer leader; the request was cancelled');

export class RestClient implements OwnedClient {
  readonly #requester: Requester;
  readonly #identity: Identity;
  readonly #fence: Fence | undefined;

  constructor(requester: Requester, identity: Identity, fence?: Fence) {
    this.#requester = requester;
    this.#identity = identity;
    this.#fence = fence;
  }

  resource<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): ResourceClient<T> {
    return new RestResourceClient(this, kind, namespace);
  }

  async json<R>(request: RawRequest): Promise<R> {
    const parse = request.isExact ? parseExactJson : parseJson;
    return parse(await this.text(request), `${request.method} ${request.path}`) as R;
  }

  async text(request: RawRequest): Promise<string> {
    const { response, scope } = await this.#send(request);
    // A transport that is told late of the abort must not hold the caller.
    const onAbort = (): void => response.dispose();
    scope.signal.addEventListener('abort', onAbort, { once: true });
    try {
      const text = await readText(response);
      scope.throwIfOver();
      return text;
    } catch (error) {
      throw this.#explain(scope.signal.aborted ? scope.signal.reason : error);
    } finally {
      scope.signal.removeEventListener('abort', onAbort);
      scope.dispose();
    }
  }

  async stream(request: RawRequest): Promise<ByteStream> {
    const sent = await this.#send(request);
    sent.scope.endDeadline();
    return byteStream(sent, (error) => this.#explain(error));
  }

  fenced(signal: AbortSignal, options: FenceOptions = {}): Client {
    const outer = this.#fence;
    const { writes } = options;
    const either = (own: AbortSignal, others: AbortSignal | undefined): AbortSignal =>
      manyListen(others ? AbortSignal.any([others, own]) : own);
    const fence: Fence = {
      signal: either(signal, outer?.signal),
      end: either(writes?.signal ?? signal, outer?.end),
      writes: [...(outer?.writes ?? []), ...(writes ? [writes] : [])],
      check() {
        outer?.check();
        options.check?.();
      },
    };
    return new RestClient(this.#requester, this.#identity, fence);
  }

  as(impersonation: Impersonation): Client {
    return new RestClient(this.#requester, { ...this.#identity, impersonation }, this.#fence);
  }

  withToken(token: TokenSource): Client {
    return new RestClient(this.#requester, { ...this.#identity, token }, this.#fence);
  }

  withUserAgent(userAgent: string): Client {
    return new RestClient(this.#requester, { ...this.#identity, userAgent }, this.#fence);
  }

  dispose(): void {
    this.#requester.dispose();
  }

  async #send(request: RawRequest): Promise<Sent> {
    this.#fence?.check();
    if (this.#fence?.signal.aborted) throw fenced();
    try {
      return await this.#requester.send(request, this.#identity, this.#fence);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** A request that ended because of the fence says so, whatever its reason was. */
  #explain(error: unknown): unknown {
    if (!this.#fence) return error;
    const isOf = ({ aborted, reason }: AbortSignal): boolean => aborted && error === reason;
    return isOf(this.#fence.signal) || isOf(this.#fence.end) ? fenced() : error;
  }
}

const byteStream = ({ response, scope }: Sent, explain: (error: unknown) => unknown): ByteStream => {
  const dispose = (): void => {
    scope.dispose();
    response.dispose();
  };
  const iterate = async function* (): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* response.body;
      scope.throwIfOver();
    } catch (error) {
      throw explain(scope.signal.aborted ? scope.signal.reason : error);
    } finally {
      dispose();
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    dispose,
    [Symbol.asyncIterator]: iterate,
  };
};
