import type { Disposable } from '../../base/disposable.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import type { Kind, Stored } from '../kind.ts';

/** `namespace/name`, or the name alone for what has no namespace: `objectKey` of core/api/meta. */
export type ObjectKey = string;

/** The values under which an object is found; none when it is not indexed. Must depend on the object alone. */
export type IndexFunction<T extends KubernetesObject> = (object: Stored<T>) => readonly string[];
export type Indexers<T extends KubernetesObject> = Readonly<Record<string, IndexFunction<T>>>;

/** What an informer knows. The objects are shared by everybody in the process: never change them. */
export interface Store<T extends KubernetesObject> {
  readonly size: number;
  get(key: ObjectKey): Stored<T> | undefined;
  find(namespace: string | undefined, name: string): Stored<T> | undefined;
  list(): Stored<T>[];
  keys(): ObjectKey[];
  /** The objects of a namespace; every store has this index. */
  inNamespace(namespace: string): Stored<T>[];
  /** In no particular order. Asking for an index that no one added is a defect. */
  byIndex(index: string, value: string): Stored<T>[];
  indexValues(index: string): string[];
}

export interface AddedInfo {
  /** The object was there before the handler was: part of the first list, or of the store it was added to. */
  readonly isInInitialList: boolean;
}

export interface DeletedInfo {
  /** The deletion was missed and found out by a list: `object` is the last state that was seen, a tombstone. */
  readonly finalStateUnknown: boolean;
}

/**
 * Called synchronously, in the order of the events, after the store has them: queue a key and return. What a
 * handler throws is logged and does not disturb the others.
 */
export interface Handler<T extends KubernetesObject> {
  added?(object: Stored<T>, info: AddedInfo): void;
  /** Also after a resync, with the same object twice. The uids differ when a deletion in between was missed. */
  updated?(before: Stored<T>, after: Stored<T>): void;
  deleted?(object: Stored<T>, info: DeletedInfo): void;
}

export interface HandlerOptions {
  /** Calls `updated` for every object again and again, at least this far apart; never without it. */
  readonly resyncMs?: number;
}

/** Disposing it ends delivery immediately. */
export interface HandlerRegistration extends Disposable {
  /** The handler was given everything of the first list. */
  readonly synced: boolean;
}

export type InformerPhase = 'idle' | 'listing' | 'watching' | 'waiting' | 'stopped';

/** How much the store is worth now; for health checks and for what the console shows beside a list. */
export interface InformerHealth {
  readonly kind: Kind;
  readonly phase: InformerPhase;
  readonly synced: boolean;
  readonly size: number;
  /** The version that the store has reached; empty before the first list. */
  readonly resourceVersion: string;
  /** Of the injected clock's `nowMs`: when the server last said anything, an event, a bookmark or a list. */
  readonly lastContactMs: number | undefined;
  readonly lastEventMs: number | undefined;
  /** Lists after the first: each means that events were missed and found again. */
  readonly relistsCount: number;
  readonly reconnectsCount: number;
  /** The failure that it retries after; undefined while it is healthy. */
  readonly lastError: string | undefined;
}

export interface Informer<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  readonly store: Store<T>;
  /** The store has held a complete list. */
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
  addHandler(handler: Handler<T>, options?: HandlerOptions): HandlerRegistration;
  /** Adds indexes, also to a store that is filled. A name that is taken by another function is a defect. */
  addIndexers(indexers: Indexers<T>): void;
  health(): InformerHealth;
  /** Called when phase, sync state or error change, not for every event. */
  onHealth(listener: (health: InformerHealth) => void): Disposable;
}

export interface InformerOptions<T extends KubernetesObject> {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Makes objects smaller before they are kept (managedFields, last-applied); may change and return its input.
   * Anyone who asks first decides; asking again with another function is a defect.
   */
  readonly transform?: (object: Stored<T>) => Stored<T>;
  readonly indexers?: Indexers<T>;
}
