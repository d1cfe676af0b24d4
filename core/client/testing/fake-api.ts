import { assert } from '../../base/assert.ts';
import { silentLog } from '../../base/log.ts';
import { manualClock, type ManualClock } from '../../base/manual-clock.ts';
import { seededRandom, type Random } from '../../base/random.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { isStatusError, type StatusError } from '../../api/meta/status.ts';
import { badRequest, internalError, pathNotFound, resourceExpired } from '../../api/meta/status-errors.ts';
import { registryOf } from '../../api/scheme/registry.ts';
import { NEWEST_MINOR } from '../../api/releases/index.ts';
import { ALL_VERBS, type ResourceType } from '../../api/scheme/resource-type.ts';
import { PatchError } from '../../api/patch/errors.ts';
import type { Client } from '../client.ts';
import type { Kind, Stored } from '../kind.ts';
import { Requester } from '../rest/requester.ts';
import { RestClient } from '../rest/rest-client.ts';
import { TransportError, type Transport, type WireRequest, type WireResponse } from '../rest/transport.ts';
import { discoveryAnswer } from './fake-discovery.ts';
import { parseRequest, requestText, type FakeRequest } from './fake-request.ts';
import { FakeVerbs, tableOf, type Answer } from './fake-verbs.ts';
import { ByteQueue, FakeWatch } from './fake-watch.ts';
import { MemoryStore, type AnyStored } from './memory-store.ts';
import { settle, type SettleOptions } from './settle.ts';

export interface FakeApiOptions {
  readonly clock?: ManualClock;
  readonly random?: Random;
  readonly minor?: number;
  /** Fills in the defaults of built-in kinds, as the server does. True without it. */
  readonly defaults?: boolean;
  /** Serves watches with initial events. True without it. */
  readonly watchList?: boolean;
}

/** Answers a request in the server's place: by throwing, or by waiting before the server continues. */
export type Interceptor = (request: FakeRequest) => void | Promise<void>;

/** Which requests are meant; what is not named may be anything. */
export type RequestMatch = Partial<Pick<FakeRequest, 'verb' | 'namespace' | 'name' | 'subresource'>> & {
  readonly plural?: string;
};

const REQUESTS_KEPT_MAX = 100_000;
const READS = new Set(['get', 'list', 'watch']);

/**
 * An API server in memory for tests of what stands on a client. It knows every built-in resource, speaks through
 * the real client (paths, bodies, statuses and watch streams are the real ones) and keeps to the rules that
 * controllers depend on; it does not authenticate, authorize, admit or validate. README.md lists the rules.
 */
export class FakeApi implements Transport {
  readonly clock: ManualClock;
  readonly random: Random;
  readonly #store = new MemoryStore();
  readonly #verbs: FakeVerbs;
  readonly #registry;
  readonly #custom: ResourceType[] = [];
  readonly #watchList: boolean;
  readonly #watches = new Set<FakeWatch>();
  readonly #interceptors = new Set<Interceptor>();
  readonly #requests: FakeRequest[] = [];
  #activity = 0;

  constructor(options: FakeApiOptions = {}) {
    this.clock = options.clock ?? manualClock();
    this.random = options.random ?? seededRandom(1);
    this.#registry = registryOf(options.minor ?? NEWEST_MINOR);
    this.#watchList = options.watchList ?? true;
    this.#verbs = new FakeVerbs(this.#store, {
      clock: this.clock,
      random: this.random,
      defaults: options.defaults ?? true,
    });
  }

  /** A client as components get it; without a rate limit. */
  client(userAgent = 'test'): Client {
    const requester = new Requester({
      transport: this,
      host: 'fake',
      clock: this.clock,
      random: this.random,
      log: silentLog,
      timeoutMs: 60_000,
    });
    return new RestClient(requester, { userAgent });
  }

  /** Serves one more resource, as a CustomResourceDefinition does. */
  define(kind: Kind & { readonly subresources?: ResourceType['subresources'] }): void {
    const singular = kind.kind.toLowerCase();
    const names = { singular, listKind: `${kind.kind}List`, shortNames: [], categories: [] };
    this.#custom.push({ subresources: [], ...kind, ...names, verbs: ALL_VERBS });
  }

  /** Puts objects there as they are: status, uid and creation time are kept when given. */
  seed<T extends KubernetesObject>(kind: Kind<T>, ...objects: readonly T[]): Stored<T>[] {
    const type = this.#typeOf(kind);
    return objects.map((object) => {
      const namespace = kind.namespaced ? (object.metadata?.namespace ?? 'default') : '';
      return this.#verbs.create(type, object, { namespace, keepStatus: true }) as Stored<T>;
    });
  }

  find<T extends KubernetesObject>(
    kind: Kind<T>,
    name: string,
    namespace = 'default',
  ): Stored<T> | undefined {
    const key = kind.namespaced ? `${namespace}/${name}` : name;
    return structuredClone(this.#store.get(tableOf(kind), key)) as Stored<T> | undefined;
  }

  get<T extends KubernetesObject>(kind: Kind<T>, name: string, namespace = 'default'): Stored<T> {
    const found = this.find(kind, name, namespace);
    assert(found, `the test expects ${kind.plural} ${namespace}/${name} to be there`);
    return found;
  }

  /** In the order of namespace and name. */
  list<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): Stored<T>[] {
    const all = structuredClone(this.#store.list(tableOf(kind))) as Stored<T>[];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  /** Changes an object past all rules, as another component's write would: status and spec at the same time. */
  edit<T extends KubernetesObject>(
    kind: Kind<T>,
    name: string,
    change: (object: Stored<T>) => void,
    namespace = 'default',
  ): Stored<T> {
    const object = this.get(kind, name, namespace);
    change(object);
    return this.#store.put(tableOf(kind), object) as Stored<T>;
  }

  /** Takes an object away immediately, finalizers or not. */
  remove(kind: Kind, name: string, namespace = 'default'): void {
    this.#store.remove(tableOf(kind), kind.namespaced ? `${namespace}/${name}` : name);
  }

  get resourceVersion(): string {
    return String(this.#store.revision);
  }

  /** Every request so far, with its body. */
  get requests(): readonly FakeRequest[] {
    return this.#requests;
  }

  /** What was written, in order: `create pods default/web-0`, `patch deployments/status default/web`. */
  writes(): string[] {
    return this.#requests.filter(({ verb }) => !READS.has(verb)).map(requestText);
  }

  forgetRequests(): void {
    this.#requests.length = 0;
  }

  intercept(interceptor: Interceptor): { dispose(): void } {
    this.#interceptors.add(interceptor);
    return { dispose: () => this.#interceptors.delete(interceptor) };
  }

  /** Fails the next requests of that form with a StatusError, or a TransportError for a lost connection. */
  failNext(match: RequestMatch, error: StatusError | TransportError, times = 1): void {
    let left = times;
    const hook = this.intercept((request) => {
      if (!matches(request, match)) return;
      left -= 1;
      if (left === 0) hook.dispose();
      throw error;
    });
  }

  get watchesCount(): number {
    return this.#watches.size;
  }

  bookmark(): void {
    for (const watch of this.#watches) watch.bookmark();
  }

  /** Ends open watches: in order as a server does after a while, or by a cut connection. */
  endWatches(how: 'end' | 'cut' = 'end', plural?: string): void {
    for (const watch of [...this.#watches]) {
      if (plural !== undefined && watch.plural !== plural) continue;
      if (how === 'cut') watch.cut();
      else watch.end();
    }
  }

  /** Forgets history, and tells open watches so with 410. */
  expireWatches(): void {
    this.#store.compact();
    for (const watch of [...this.#watches])
      watch.end(resourceExpired('The resourceVersion for the provided watch is too old.'));
  }

  compact(): void {
    this.#store.compact();
  }

  /** Resolves when no request and no event has moved for some turns of the event loop. */
  settle(options?: SettleOptions): Promise<void> {
    return settle(() => this.#activity, options);
  }

  /** Settles, moves the clock on in steps, and settles after each. */
  async advance(durationMs: number, stepMs = durationMs): Promise<void> {
    await this.settle();
    for (let left = durationMs; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left));
      await this.settle();
    }
  }

  async send(wire: WireRequest): Promise<WireResponse> {
    this.#activity += 1;
    await Promise.resolve();
    wire.beforeSent?.();
    if (wire.signal?.aborted) throw wire.signal.reason;
    try {
      return await abortable(this.#answer(wire), wire.signal);
    } catch (error) {
      if (wire.signal?.aborted) throw wire.signal.reason;
      if (error instanceof TransportError) throw error;
      const status = statusOf(error);
      const retryAfter = status.details?.retryAfterSeconds;
      const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
      return jsonResponse({ code: status.code, body: status.status }, headers);
    } finally {
      this.#activity += 1;
    }
  }

  dispose(): void {
    for (const watch of [...this.#watches]) watch.end();
  }

  async #answer(wire: WireRequest): Promise<WireResponse> {
    const request = parseRequest(wire, (group, version, plural) => this.#findType(group, version, plural));
    if (!request) {
      const path = new URL(wire.path, 'https://fake').pathname;
      const document = discoveryAnswer(path, this.#registry, this.#custom);
      if (!document) throw pathNotFound();
      return jsonResponse({ code: 200, body: document });
    }
    if (this.#requests.length < REQUESTS_KEPT_MAX) this.#requests.push(request);
    for (const interceptor of [...this.#interceptors]) await interceptor(request);
    // A write whose sender has given up is done all the same: it was on its way.
    if (request.verb === 'watch' && wire.signal?.aborted) throw wire.signal.reason;
    return request.verb === 'watch'
      ? this.#watch(request, wire.signal)
      : jsonResponse(this.#verbs.answer(request));
  }

  #watch(request: FakeRequest, signal: AbortSignal | undefined): WireResponse {
    const watch = new FakeWatch({
      request,
      store: this.#store,
      table: tableOf(request.type),
      clock: this.clock,
      watchList: this.#watchList,
      onEvent: () => (this.#activity += 1),
    });
    this.#watches.add(watch);
    const close = (): void => {
      this.#watches.delete(watch);
      watch.end();
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      watch.end(signal!.reason as Error);
      close();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    const watches = this.#watches;
    const body = async function* (): AsyncGenerator<Uint8Array, void, void> {
      try {
        yield* watch.body;
      } finally {
        watches.delete(watch);
      }
    };
    return { status: 200, headers: { 'content-type': 'application/json' }, body: body(), dispose: close };
  }

  #typeOf(kind: Kind): ResourceType {
    const type = this.#findType(kind.group, kind.version, kind.plural);
    assert(type, `no resource ${kind.plural} of ${kind.group}/${kind.version}; define it first`);
    return type;
  }

  #findType(group: string, version: string, plural: string): ResourceType | undefined {
    return (
      this.#registry.findByResource({ group, version, resource: plural }) ??
      this.#custom.find((t) => t.group === group && t.version === version && t.plural === plural)
    );
  }
}

const matches = (request: FakeRequest, match: RequestMatch): boolean =>
  (match.verb === undefined || match.verb === request.verb) &&
  (match.plural === undefined || match.plural === request.type.plural) &&
  (match.namespace === undefined || match.namespace === request.namespace) &&
  (match.name === undefined || match.name === request.name) &&
  (match.subresource === undefined || match.subresource === request.subresource);

const statusOf = (error: unknown): StatusError => {
  if (isStatusError(error)) return error;
  if (error instanceof PatchError) return badRequest(error.message);
  return internalError(error instanceof Error ? (error.stack ?? error.message) : String(error), error);
};

const jsonResponse = (answer: Answer, headers: Record<string, string> = {}): WireResponse => {
  const body = new ByteQueue();
  body.write(JSON.stringify(answer.body));
  body.end();
  return {
    status: answer.code,
    headers: { 'content-type': 'application/json', ...headers },
    body,
    dispose: () => body.end(),
  };
};

/** A caller that gives up is let go immediately, also while an interceptor holds its request. */
const abortable = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
};

export type { AnyStored, FakeRequest };
