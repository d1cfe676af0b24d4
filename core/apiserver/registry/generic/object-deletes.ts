import {
  conflict,
  formatTime,
  isNotFound,
  parseTime,
  type KubernetesObject,
  type ObjectMeta,
} from '../../../api/meta/index.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import { StorageError } from '../../storage/errors.ts';
import type { StoredValue } from '../../storage/store.ts';
import {
  scopeIn,
  type DeleteOptions,
  type Deleted,
  type Held,
  type HeldList,
  type ListOptions,
  type Scope,
} from '../rest-storage.ts';
import { draftOf, metaOf } from './metadata.ts';
import type { ObjectReads } from './object-reads.ts';
import type { ResourceCore } from './resource-core.ts';
import { fromStorage } from './storage-errors.ts';
import type { Strategy } from './strategy.ts';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
/** Upstream's --delete-collection-workers is 1; etcd takes more at the same time and the order promises nothing. */
const COLLECTION_WORKERS = 8;
const COLLECTION_PAGE_ITEMS = 10_000;
const SECOND_MS = 1_000;
/** Deletions of an object that others keep giving finalizers meanwhile. */
const JUDGE_ATTEMPTS_MAX = 5;

/** What a DELETE means for an object as it is now. */
export type DeletionVerdict =
  /** It goes immediately. */
  | { readonly action: 'delete' }
  /** It is marked, and goes when its finalizers or its grace period are over. */
  | { readonly action: 'mark'; readonly draft: KubernetesObject; readonly thenDelete: boolean }
  /** It is marked already and nothing changes. */
  | { readonly action: 'pending' };

export const checkPreconditions = (
  object: KubernetesObject,
  options: Pick<DeleteOptions, 'preconditions'>,
  refuse: (why: string) => Error,
): void => {
  const { uid = '', resourceVersion = '' } = object.metadata ?? {};
  const wanted = options.preconditions;
  if (wanted?.uid !== undefined && wanted.uid !== uid)
    throw refuse(
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). ` +
        'The object might have been deleted and then recreated',
    );
  if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion)
    throw refuse(
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion ` +
        `in record (${resourceVersion}). The object might have been modified`,
    );
};

const has = (meta: ObjectMeta, finalizer: string): boolean => meta.finalizers?.includes(finalizer) ?? false;

const orphans = (strategy: Strategy, meta: ObjectMeta, options: DeleteOptions): boolean => {
  if (strategy.dependents === 'Unsupported') return false;
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  if (has(meta, ORPHAN_FINALIZER)) return true;
  return !has(meta, FOREGROUND_FINALIZER) && strategy.dependents === 'Orphan';
};

const waitsForDependents = (strategy: Strategy, meta: ObjectMeta, options: DeleteOptions): boolean => {
  if (strategy.dependents === 'Unsupported' || options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  return has(meta, FOREGROUND_FINALIZER);
};

/** The finalizers that the garbage collector is to take off, beside those that others have set. */
export const deletionFinalizers = (
  strategy: Strategy,
  meta: ObjectMeta,
  options: DeleteOptions,
): readonly string[] => [
  ...(meta.finalizers ?? []).filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER),
  ...(orphans(strategy, meta, options) ? [ORPHAN_FINALIZER] : []),
  ...(waitsForDependents(strategy, meta, options) ? [FOREGROUND_FINALIZER] : []),
];

/** Changes the metadata for a graceful deletion: answers the seconds, or why there is none. */
const beginGraceful = (
  strategy: Strategy,
  draft: KubernetesObject,
  askedSeconds: number | undefined,
  nowMs: number,
): number | 'not-graceful' | 'pending' => {
  if (strategy.graceSeconds === undefined) return 'not-graceful';
  const meta = metaOf(draft);
  const asked = askedSeconds !== undefined && askedSeconds < 0 ? 1 : askedSeconds;
  if (meta.deletionTimestamp !== undefined) {
    const left = meta.deletionGracePeriodSeconds ?? 0;
    if (left === 0) return 'not-graceful';
    // Only a shorter period than the one that runs is taken.
    if (asked === undefined || asked >= left) return 'pending';
    return shorten(meta, asked, nowMs);
  }
  const seconds = strategy.graceSeconds(draft, asked);
  meta.deletionTimestamp = formatTime(nowMs + seconds * SECOND_MS);
  meta.deletionGracePeriodSeconds = seconds;
  if (meta.generation) meta.generation += 1;
  return seconds;
};

const shorten = (meta: ObjectMeta, asked: number, nowMs: number): number => {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = meta;
  const endMs = (parseTime(deletionTimestamp) ?? nowMs) + (asked - deletionGracePeriodSeconds) * SECOND_MS;
  // A period that would have been over is over now; but who asked for one still lets the kubelet finish.
  const isOver = endMs < nowMs;
  const seconds = isOver && asked !== 0 ? 1 : asked;
  meta.deletionTimestamp = formatTime(isOver ? nowMs : endMs);
  meta.deletionGracePeriodSeconds = seconds;
  return seconds;
};

const markDeleting = (meta: ObjectMeta, nowMs: number): void => {
  if (meta.deletionTimestamp === undefined && meta.generation) meta.generation += 1;
  const existing = meta.deletionTimestamp === undefined ? undefined : parseTime(meta.deletionTimestamp);
  if (existing === undefined || existing > nowMs) meta.deletionTimestamp = formatTime(nowMs);
  meta.deletionGracePeriodSeconds = 0;
};

export const judgeDeletion = (
  strategy: Strategy,
  object: KubernetesObject,
  options: DeleteOptions,
  nowMs: number,
): DeletionVerdict => {
  const draft = draftOf(object);
  const meta = metaOf(draft);
  const before = meta.finalizers ?? [];
  const seconds = beginGraceful(strategy, draft, options.gracePeriodSeconds, nowMs);
  if (seconds === 'pending') return { action: 'pending' };
  const finalizers = deletionFinalizers(strategy, meta, options);
  const changes = finalizers.length !== before.length || finalizers.some((name) => !before.includes(name));
  if (changes) meta.finalizers = [...finalizers];
  if ((meta.finalizers ?? []).length === 0) delete meta.finalizers;
  if (seconds === 'not-graceful') {
    if (finalizers.length === 0) return { action: 'delete' };
    markDeleting(meta, nowMs);
    return { action: 'mark', draft, thenDelete: false };
  }
  return { action: 'mark', draft, thenDelete: finalizers.length === 0 && seconds === 0 };
};

/** Ends a deletion whose object is no longer one that may go immediately. */
class JudgedAnew extends Error {}

/** Deletions of one resource, as upstream's generic store orders them. */
export class ObjectDeletes {
  readonly #core: ResourceCore;
  readonly #reads: ObjectReads;
  readonly #strategy: Strategy;

  constructor(core: ResourceCore, reads: ObjectReads, strategy: Strategy) {
    this.#core = core;
    this.#reads = reads;
    this.#strategy = strategy;
  }

  async delete(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted> {
    const { resource } = this.#core;
    const { orphanWarning, dependents } = this.#strategy;
    const isSilent = options.propagationPolicy === undefined && options.orphanDependents === undefined;
    if (orphanWarning !== undefined && dependents === 'Orphan' && isSilent) scope.warn(orphanWarning);
    for (let attempt = 1; ; attempt += 1)
      try {
        return await this.#deleteOnce(scope, name, options);
      } catch (error) {
        if (!(error instanceof JudgedAnew)) throw fromStorage(error, 'delete', resource, name);
        if (attempt === JUDGE_ATTEMPTS_MAX) throw conflict(resource, name);
      }
  }

  async #deleteOnce(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted> {
    const found = await this.#core.store.get(this.#core.key(scope.namespace, name));
    const held = this.#reads.heldOf(found);
    checkPreconditions(held.object, options, (why) => this.#preconditionFailed(name, why));
    const { action } = judgeDeletion(this.#strategy, held.object, options, this.#core.clock.nowMs());
    if (action === 'pending') return { held, isGone: false };
    return action === 'delete' ? this.#remove(found, name, options) : this.#mark(found, name, options);
  }

  /** Not atomic: what is deleted stays deleted when a later one is refused. */
  async deleteCollection(
    scope: Scope,
    list: ListOptions,
    options: DeleteOptions,
    deleteOne: (scope: Scope, name: string, options: DeleteOptions) => Promise<unknown> = (...args) =>
      this.delete(...args),
  ): Promise<HeldList> {
    const limit = list.limit > 0 ? list.limit : COLLECTION_PAGE_ITEMS;
    const items: Held[] = [];
    let page = { ...list, limit };
    for (;;) {
      const found = await this.#reads.list(scope, page);
      items.push(...found.items);
      await this.#deleteAll(scope, found.items, options, deleteOne);
      if (list.limit > 0) return found;
      if (found.continueToken === undefined) return { items, resourceVersion: found.resourceVersion };
      page = { ...page, continueToken: found.continueToken, resourceVersion: '', resourceVersionMatch: '' };
    }
  }

  async #deleteAll(
    scope: Scope,
    items: readonly Held[],
    options: DeleteOptions,
    deleteOne: (scope: Scope, name: string, options: DeleteOptions) => Promise<unknown>,
  ): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < items.length) {
        const { metadata = {} } = items[next++]!.object;
        const within = scopeIn(scope, metadata.namespace ?? '');
        try {
          await deleteOne(within, metadata.name ?? '', options);
        } catch (error) {
          if (isNotFound(error)) continue;
          next = items.length;
          throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(COLLECTION_WORKERS, items.length) }, work));
  }

  async #mark(found: StoredValue, name: string, options: DeleteOptions): Promise<Deleted> {
    const { store, codec, clock } = this.#core;
    const { key } = found;
    let verdict: DeletionVerdict = { action: 'pending' };
    let seen = found;
    const judge = async (current: StoredValue): Promise<DeletionVerdict> => {
      const { object } = this.#reads.heldOf(current);
      checkPreconditions(object, options, (why) => this.#preconditionFailed(name, why));
      await options.validate(object);
      seen = current;
      return judgeDeletion(this.#strategy, object, options, clock.nowMs());
    };
    if (options.dryRun) {
      verdict = await judge(found);
      return this.#dryAnswer(found, verdict);
    }
    const written = await store.guaranteedUpdate(key, {
      cached: found,
      transform: async (current) => {
        verdict = await judge(current!);
        return verdict.action === 'mark' ? { value: codec.encode(verdict.draft) } : 'keep';
      },
    });
    const outcome = verdict as DeletionVerdict;
    if (outcome.action === 'pending') return { held: this.#reads.heldOf(seen), isGone: false };
    if (outcome.action === 'delete') return this.#remove(written, name, options);
    const held = codec.written(key, written.value, written.revision, outcome.draft);
    if (!outcome.thenDelete) return { held, isGone: false };
    try {
      return await this.#remove(written, name, { ...options, preconditions: undefined });
    } catch (error) {
      // The kubelet may have been faster.
      if (!(error instanceof StorageError && error.reason === 'NotFound')) throw error;
      return { held, isGone: true };
    }
  }

  #dryAnswer(found: StoredValue, verdict: DeletionVerdict): Deleted {
    if (verdict.action !== 'mark')
      return { held: this.#reads.heldOf(found), isGone: verdict.action === 'delete' };
    const { draft, thenDelete } = verdict;
    const value = this.#core.codec.encode(draft);
    metaOf(draft).resourceVersion = String(found.revision);
    return { held: new CachedObject(found.key, value, found.revision, draft), isGone: thenDelete };
  }

  /** The deletion itself. */
  async #remove(found: StoredValue, name: string, options: DeleteOptions): Promise<Deleted> {
    const { store, codec } = this.#core;
    const check = async (current: StoredValue): Promise<void> => {
      const { object } = this.#reads.heldOf(current);
      checkPreconditions(object, options, (why) => this.#preconditionFailed(name, why));
      // A finalizer that came meanwhile must not be passed over.
      if (judgeDeletion(this.#strategy, object, options, this.#core.clock.nowMs()).action !== 'delete')
        throw new JudgedAnew('the object changed while it was deleted');
      await options.validate(object);
    };
    if (options.dryRun) {
      await check(found);
      return { held: this.#reads.heldOf(found), isGone: true };
    }
    const gone = await store.delete(found.key, { cached: found, check });
    const object = codec.decode(gone.key, gone.value, gone.revision);
    await this.#strategy.afterDelete?.(object);
    return { held: new CachedObject(gone.key, gone.value, gone.revision, object), isGone: true };
  }

  #preconditionFailed(name: string, why: string): Error {
    const { kind } = this.#core;
    // Upstream names the kind here, not the resource.
    return conflict({ group: kind.group, resource: kind.kind }, name, why);
  }
}
