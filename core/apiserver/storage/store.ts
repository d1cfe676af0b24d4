import type { Disposable } from '../../base/disposable.ts';
import type { StorageError } from './errors.ts';

/** What is kept under a key. `value` may share memory with its neighbours: copy what is kept for long. */
export interface StoredValue {
  readonly key: string;
  readonly value: Uint8Array;
  /** etcd's mod revision, which is the object's resourceVersion. */
  readonly revision: number;
}

export interface ListOptions {
  readonly limit?: number | undefined;
  readonly continueToken?: string | undefined;
  /** Absent: the newest. `exact` reads history; `notOlderThan` anything at or after `revision`. */
  readonly at?: { readonly match: 'exact' | 'notOlderThan'; readonly revision: number } | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListResult {
  readonly items: readonly StoredValue[];
  /** All items are as of this revision. */
  readonly revision: number;
  /** Present when there is more. */
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
}

export interface WriteOptions {
  /** The key ends on its own after so long; 0 or absent is never. */
  readonly ttlSeconds?: number | undefined;
}

/** What to store instead, or `keep` when the object is to stay as it is. */
export type Transformed =
  | {
      readonly value: Uint8Array;
      readonly ttlSeconds?: number | undefined;
      /** The key keeps the lease that it has; `ttlSeconds` does not count. */
      readonly keepsLease?: boolean;
    }
  | 'keep';

export interface UpdateOptions {
  /** An object that is not there is given to `transform` as undefined and created; otherwise it is NotFound. */
  readonly createIfMissing?: boolean | undefined;
  /** What a cache holds, tried first; if it turns out to be old, the newest is read and transformed again. */
  readonly cached?: StoredValue | undefined;
  /**
   * Called once for each attempt, with what is stored now. What it throws ends the update, unless it was thrown
   * about a cached object that turns out to be old. Preconditions (uid, resourceVersion) are checked here.
   */
  transform(current: StoredValue | undefined): Transformed | Promise<Transformed>;
  readonly signal?: AbortSignal | undefined;
}

export interface DeleteOptions {
  readonly cached?: StoredValue | undefined;
  /** Throws to refuse: preconditions, admission. Called again when the object changed meanwhile. */
  check?(current: StoredValue): void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface StoreEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** Absent on `delete`. */
  readonly value: Uint8Array | undefined;
  readonly isCreate: boolean;
}

export interface StoreWatch {
  /** Whole revisions, in order, each once; also across the loss of a member. */
  onEvents(events: readonly StoreEvent[], revision: number): void;
  /** Everything of this prefix up to `revision` has been told. */
  onProgress?(revision: number): void;
  /** Expired when the revision is compacted. The watch is over. */
  onEnd(error: StorageError): void;
}

/** Bytes under keys, with optimistic concurrency: all that the registry knows of etcd. Failures are StorageErrors. */
export interface Store {
  get(key: string, options?: { readonly notOlderThan?: number | undefined }): Promise<StoredValue>;
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  count(prefix: string): Promise<number>;
  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<StoredValue>;
  guaranteedUpdate(key: string, options: UpdateOptions): Promise<StoredValue>;
  /** Answers what was deleted, with the revision of the deletion. */
  delete(key: string, options?: DeleteOptions): Promise<StoredValue>;
  /** From the revision after `afterRevision`; 0 is from now on. */
  watch(prefix: string, afterRevision: number, handlers: StoreWatch): Disposable;
  /** The newest revision, by a linearizable read: nothing acknowledged before the call is beyond it. */
  currentRevision(): Promise<number>;
  /** Asks for `onProgress` on every watch. False when this etcd's answers cannot be trusted. */
  requestProgress(): Promise<boolean>;
}
