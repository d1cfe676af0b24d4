import type { Disposable } from '../base/disposable.ts';
import type { KubernetesObject, ListMeta } from '../api/meta/object-meta.ts';
import type { Status } from '../api/meta/status.ts';
import type { V1Scale } from '../api/schema/index.ts';
import type { Kind, Stored } from './kind.ts';
import type { UnansweredWrites } from './rest/unanswered-writes.ts';

/** Aborting a signal ends the request; its promise is then rejected with the signal's reason. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for the answer; the client's own bound without it. Streams are bounded to their head only. */
  readonly timeoutMs?: number;
}

export interface Selectors {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string;
}

export interface ListOptions extends RequestOptions, Selectors {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly timeoutSeconds?: number;
}

export interface WatchOptions extends RequestOptions, Selectors {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly allowWatchBookmarks?: boolean;
  /** Begin with the present objects, ended by a bookmark that `isInitialEventsEnd` knows. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface WriteOptions extends RequestOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
}

export interface DeleteOptions extends RequestOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

/** `body` is the patch as JSON: a list of operations for `json`, an object for the others. */
export interface Patch {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply';
  readonly body: unknown;
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: string;
  /** Takes fields over from other managers; for `apply` only. */
  readonly force?: boolean;
}

export interface ApplyOptions extends PatchOptions {
  readonly fieldManager: string;
}

export interface ObjectList<T extends KubernetesObject> {
  readonly metadata: ListMeta;
  readonly items: readonly Stored<T>[];
}

/** A bookmark has an object with nothing but its kind and resource version. */
export interface WatchEvent<T extends KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: Stored<T>;
}

/**
 * Events in the order of the server, for one consumer. The iteration ends when the server ends the watch,
 * throws StatusError for an ERROR event (410 as `isExpired`), and TransportError when the connection is lost.
 * Breaking out of the loop disposes the stream.
 */
export interface WatchStream<T extends KubernetesObject> extends AsyncIterable<WatchEvent<T>>, Disposable {}

/** Bytes as they arrive, for one consumer: logs and other streams. Breaking out of the loop disposes it. */
export interface ByteStream extends AsyncIterable<Uint8Array>, Disposable {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One resource, in one namespace or in all. Failures of the server are StatusError, failures to reach it are
 * TransportError. Objects that come back are the caller's own.
 *
 * With a namespaced kind and no namespace, `list`, `watch` and `deleteCollection` speak of all namespaces;
 * what takes an object uses the object's namespace; what takes only a name is a defect of the caller.
 */
export interface ResourceClient<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  readonly namespace: string | undefined;
  /** The same resource in that namespace. */
  in(namespace: string | undefined): ResourceClient<T>;

  get(name: string, options?: GetOptions): Promise<Stored<T>>;
  /** As `get`, but undefined when there is none. */
  find(name: string, options?: GetOptions): Promise<Stored<T> | undefined>;
  /** One page; all of it without `limit`. */
  list(options?: ListOptions): Promise<ObjectList<T>>;
  /** Every page, read one after the other while the caller continues; consistent, unless its token expires. */
  iterate(options?: ListOptions): AsyncIterable<Stored<T>>;
  watch(options?: WatchOptions): Promise<WatchStream<T>>;

  create(object: T, options?: WriteOptions): Promise<Stored<T>>;
  update(object: T, options?: WriteOptions): Promise<Stored<T>>;
  updateStatus(object: T, options?: WriteOptions): Promise<Stored<T>>;
  patch(name: string, patch: Patch, options?: PatchOptions): Promise<Stored<T>>;
  patchStatus(name: string, patch: Patch, options?: PatchOptions): Promise<Stored<T>>;
  /** Server-side apply; `apiVersion` and `kind` are filled in. */
  apply(object: T, options: ApplyOptions): Promise<Stored<T>>;
  applyStatus(object: T, options: ApplyOptions): Promise<Stored<T>>;
  /** Answers the object when something (a finalizer, a grace period) still holds it, a Status when it is gone. */
  delete(name: string, options?: DeleteOptions): Promise<Stored<T> | Status>;
  deleteCollection(selectors: Selectors, options?: DeleteOptions): Promise<void>;

  getScale(name: string, options?: GetOptions): Promise<Stored<V1Scale>>;
  updateScale(name: string, scale: V1Scale, options?: WriteOptions): Promise<Stored<V1Scale>>;
  getSubresource<S>(name: string, subresource: string, options?: GetOptions): Promise<S>;
  updateSubresource<S>(name: string, subresource: string, body: S, options?: WriteOptions): Promise<S>;
  /** Binding, eviction, token: what is created for an object that is there. */
  createSubresource<S, R = S>(name: string, subresource: string, body: S, options?: WriteOptions): Promise<R>;
  /** `log` and what else answers with bytes. */
  stream(name: string, subresource: string, query?: Query, options?: RequestOptions): Promise<ByteStream>;
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

/** A request that no resource client makes: discovery, /version, /healthz, metrics. */
export interface RawRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Absolute, without the query. */
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is when it is text or bytes. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** For `json`: integers above 2^53 are bigints instead of rounded numbers. */
  readonly isExact?: boolean;
}

/** Answers a token that is still good; `rejected` when the server did not take it. */
export interface TokenSource {
  token(signal: AbortSignal): Promise<string>;
  rejected(): void;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface FenceOptions {
  /**
   * Runs right before each request is sent and may abort the signal: a process that was frozen wakes up before its
   * timers do.
   */
  check?(): void;
  /** Changes that were sent are counted there, and end with its signal instead of with the fence's. */
  readonly writes?: UnansweredWrites;
}

/** A connection to one cluster. Derived clients share its connections and its rate limit. */
export interface Client {
  resource<T extends KubernetesObject>(kind: Kind<T>, namespace?: string): ResourceClient<T>;
  json<R>(request: RawRequest): Promise<R>;
  text(request: RawRequest): Promise<string>;
  stream(request: RawRequest): Promise<ByteStream>;
  /**
   * A client that sends nothing once `signal` is aborted, and ends what is in progress: its requests are then
   * rejected with a ClientError of reason `Fenced`. Leaders write through one.
   */
  fenced(signal: AbortSignal, options?: FenceOptions): Client;
  as(impersonation: Impersonation): Client;
  withUserAgent(userAgent: string): Client;
  /** Requests carry this bearer token instead of the connection's credentials; asked for before each. */
  withToken(token: TokenSource): Client;
}

/** The client that was connected, and closes. Derived clients end with it. */
export interface OwnedClient extends Client, Disposable {}
