import type { KubernetesObject } from '../../api/meta/index.ts';
import type { FieldSelector, LabelSelector } from '../../api/selector/index.ts';
import type { UserInfo } from '../server/user.ts';
import type { RequestContext } from '../server/context.ts';
import type { CachedObject } from '../storage/watch-cache/cached-object.ts';
import type { CacheWatcher } from '../storage/watch-cache/watcher.ts';
import type { ReadAt } from '../storage/watch-cache/watch-cache.ts';

/**
 * What a resource or a subresource can do, as upstream's rest.Storage: handlers find out by looking which methods are
 * there. Objects given and answered are in the version they are kept in (the hub); handlers decode, default and convert
 * on the way in, and convert and encode on the way out. Refusals are StatusErrors.
 */
export interface RestStorage {
  /** DELETE answers the object; otherwise a Status that names it. Read where `delete` is. */
  readonly returnsDeletedObject?: boolean;
  /** PUT creates what is missing: the caller needs the right to create, too. */
  readonly allowCreateOnUpdate?: boolean;
  /** Paths that are put back as they were: no manager owns them through this endpoint. */
  readonly resetFields?: readonly (readonly string[])[];
  /** The object as JSON in the version it is kept in, made of the bytes as stored: no second encoding. */
  json?(held: Held): Uint8Array | undefined;
  /** As an item of a list: without its kind, in parts that share the stored bytes. */
  itemJson?(held: Held): readonly Uint8Array[] | undefined;
  get?(scope: Scope, name: string, options: GetOptions): Promise<Held>;
  list?(scope: Scope, options: ListOptions): Promise<HeldList>;
  watch?(scope: Scope, options: WatchOptions): Promise<CacheWatcher<KubernetesObject>>;
  create?(scope: Scope, object: KubernetesObject, options: CreateOptions): Promise<Held>;
  update?(scope: Scope, name: string, options: UpdateOptions): Promise<Updated>;
  delete?(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted>;
  deleteCollection?(scope: Scope, list: ListOptions, options: DeleteOptions): Promise<HeldList>;
  /** A creation below a named object: bindings, evictions, tokens, scale of nothing. Answers the response's object. */
  createNamed?(
    scope: Scope,
    name: string,
    object: KubernetesObject,
    options: CreateOptions,
  ): Promise<KubernetesObject>;
  /** Takes the whole request: log, exec, attach, portforward, proxy. `subpath` follows the subresource. */
  connect?(scope: Scope, name: string, subpath: string, context: RequestContext): Promise<void>;
}

/** One version of one stored object, never changed, with the bytes as stored. */
export type Held = CachedObject<KubernetesObject>;

/** Where and for whom something is done. */
export interface Scope {
  readonly user: UserInfo;
  /** Empty for the whole cluster and for kinds without namespaces. */
  readonly namespace: string;
  /** Of the path: a kind may be served in two groups whose rules differ. */
  readonly apiGroup?: string | undefined;
  readonly signal: AbortSignal;
  warn(text: string): void;
  /** Of the audit event. */
  annotate?(key: string, value: string): void;
}

/** The same caller in another namespace. Not a spread: `signal` may be a getter. */
export const scopeIn = (scope: Scope, namespace: string): Scope => ({
  user: scope.user,
  namespace,
  apiGroup: scope.apiGroup,
  signal: scope.signal,
  warn: (text) => scope.warn(text),
  annotate: (key, value) => scope.annotate?.(key, value),
});

export interface GetOptions {
  /** As sent; empty is the newest, `0` whatever the cache has. */
  readonly resourceVersion: string;
}

export interface ListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly limit: number;
  readonly continueToken: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
}

export interface HeldList {
  readonly items: readonly Held[];
  readonly resourceVersion: string;
  readonly continueToken?: string | undefined;
  readonly remainingItemCount?: number | undefined;
}

export interface WatchOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly start: number | 'now' | 'state';
  readonly at?: ReadAt | undefined;
  readonly stateBookmark: boolean;
  readonly bookmarks: boolean;
}

/** Validating admission, on the object as it will be stored and, on updates, the one that is. */
export type Admit = (object: KubernetesObject, old: KubernetesObject | undefined) => Promise<void>;

export interface CreateOptions {
  readonly dryRun: boolean;
  readonly validate: Admit;
}

export interface UpdateOptions {
  readonly dryRun: boolean;
  /**
   * The object as wanted, made of the one that is stored: decoding, patching, field management and mutating admission
   * happen here. Called again for each attempt. `current` is undefined where the object does not exist, which only
   * apply and PUT on kinds that allow it may see.
   */
  change(current: KubernetesObject | undefined): Promise<KubernetesObject>;
  /** For storages that are a view of another object: that object with the change noted as the sender's own. */
  track?(before: KubernetesObject, after: KubernetesObject): KubernetesObject;
  /** What is missing is created: server-side apply always, PUT where the kind's strategy says so. */
  readonly createIfMissing: boolean;
  /** A PUT says by uid which object it means; in a patch a uid is a change, which is invalid. */
  readonly isPatch?: boolean;
  readonly validateCreate: Admit;
  readonly validateUpdate: Admit;
}

export interface Updated {
  readonly held: Held;
  readonly created: boolean;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined;
  /** Deprecated by propagationPolicy, still sent by old clients. */
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?:
    { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
  readonly validate: (old: KubernetesObject) => Promise<void>;
}

export interface Deleted {
  readonly held: Held;
  /** True: gone. False: it waits for finalizers or for its grace period. */
  readonly isGone: boolean;
}

/** Every resource and subresource of one server: `pods`, `pods/status`, `deployments/scale`. */
export interface RestRegistry {
  /** By group, plural and subresource (empty for the resource itself); versions share one storage. */
  storageOf(group: string, plural: string, subresource: string): RestStorage | undefined;
}
