import { systemClock } from '../../../base/node/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { isStatusError, kindOf, type KubernetesObject } from '../../../api/meta/index.ts';
import { applyDefaults, structOfKind } from '../../../api/schema/index.ts';
import { EVERY_FIELD, EVERYTHING } from '../../../api/selector/index.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Store, StoredValue, StoreWatch } from '../../storage/store.ts';
import { decodeContinue, encodeContinue } from '../../storage/continue-token.ts';
import { userInfo } from '../../server/user.ts';
import { createRegistry, type ObjectRegistry, type RegistryOptions } from '../create-registry.ts';
import type {
  DeleteOptions,
  ListOptions,
  RestStorage,
  Scope,
  UpdateOptions,
  WatchOptions,
} from '../rest-storage.ts';

interface Version {
  readonly value: Uint8Array | undefined;
  readonly revision: number;
}

/** A store in memory that keeps every version, with the transactions of the real one. */
export class MemoryStore implements Store {
  readonly #versions = new Map<string, Version[]>();
  readonly #watches = new Set<{ readonly prefix: string; readonly handlers: StoreWatch }>();
  readonly leases: { key: string; ttlSeconds: number }[] = [];
  revision = 1;
  compactedRevision = 0;
  writes = 0;
  /** Runs before each write, as if another server were faster. */
  beforeWrite: ((key: string) => void) | undefined;

  #at(key: string, revision = this.revision): StoredValue | undefined {
    const version = this.#versions.get(key)?.findLast((one) => one.revision <= revision);
    return version?.value === undefined
      ? undefined
      : { key, value: version.value, revision: version.revision };
  }

  put(key: string, value: Uint8Array | undefined): StoredValue {
    const previous = this.#at(key);
    this.revision += 1;
    this.writes += 1;
    const { revision } = this;
    this.#versions.set(key, [...(this.#versions.get(key) ?? []), { value, revision }]);
    for (const { prefix, handlers } of [...this.#watches])
      if (key.startsWith(prefix))
        handlers.onEvents(
          [
            {
              type: value === undefined ? 'delete' : 'put',
              key,
              revision,
              value,
              isCreate: previous === undefined,
            },
          ],
          revision,
        );
    return { key, value: value ?? previous?.value ?? new Uint8Array(), revision };
  }

  async get(key: string): Promise<StoredValue> {
    await Promise.resolve();
    const found = this.#at(key);
    if (found === undefined) throw new StorageError('NotFound', `key not found: ${key}`, { key });
    return found;
  }

  async list(prefix: string, options: Parameters<Store['list']>[1] = {}) {
    await Promise.resolve();
    const { limit = 0, continueToken, at } = options;
    const point = continueToken === undefined ? undefined : decodeContinue(continueToken, prefix);
    const exact = point?.revision ?? (at?.match === 'exact' ? at.revision : this.revision);
    const revision = exact === -1 ? this.revision : exact;
    if (revision < this.compactedRevision) throw new StorageError('Expired', 'compacted');
    const all = [...this.#versions.keys()]
      .filter((key) => key.startsWith(prefix) && key >= (point?.startKey ?? ''))
      .sort()
      .flatMap((key) => this.#at(key, revision) ?? []);
    const items = limit > 0 ? all.slice(0, limit) : all;
    if (items.length === all.length) return { items, revision };
    const startKey = `${items.at(-1)!.key}\0`;
    return {
      items,
      revision,
      continueToken: encodeContinue({ startKey, revision }, prefix),
      remainingItemCount: all.length - items.length,
    };
  }

  async count(prefix: string): Promise<number> {
    return (await this.list(prefix)).items.length;
  }

  async create(key: string, value: Uint8Array, options: { ttlSeconds?: number | undefined } = {}) {
    await Promise.resolve();
    this.beforeWrite?.(key);
    if (this.#at(key)) throw new StorageError('AlreadyExists', `key already exists: ${key}`, { key });
    if (options.ttlSeconds !== undefined) this.leases.push({ key, ttlSeconds: options.ttlSeconds });
    return this.put(key, value);
  }

  async guaranteedUpdate(key: string, options: Parameters<Store['guaranteedUpdate']>[1]) {
    for (;;) {
      await Promise.resolve();
      const current = this.#at(key);
      if (current === undefined && options.createIfMissing !== true)
        throw new StorageError('NotFound', `key not found: ${key}`, { key });
      const next = await options.transform(current);
      this.beforeWrite?.(key);
      if (this.#at(key)?.revision !== current?.revision) continue;
      if (next === 'keep' || (current && Buffer.compare(next.value, current.value) === 0)) return current!;
      return this.put(key, next.value);
    }
  }

  async delete(key: string, options: Parameters<Store['delete']>[1] = {}) {
    for (;;) {
      await Promise.resolve();
      const current = this.#at(key);
      if (current === undefined) throw new StorageError('NotFound', `key not found: ${key}`, { key });
      await options.check?.(current);
      this.beforeWrite?.(key);
      if (this.#at(key)?.revision !== current.revision) continue;
      return this.put(key, undefined);
    }
  }

  watch(prefix: string, _afterRevision: number, handlers: StoreWatch): Disposable {
    const watch = { prefix, handlers };
    this.#watches.add(watch);
    return toDisposable(() => this.#watches.delete(watch));
  }

  currentRevision(): Promise<number> {
    return Promise.resolve(this.revision);
  }

  requestProgress(): Promise<boolean> {
    for (const { handlers } of [...this.#watches]) handlers.onProgress?.(this.revision);
    return Promise.resolve(true);
  }
}

export const scopeOf = (namespace = 'default', warnings: string[] = []): Scope => ({
  user: userInfo('admin', ['system:masters']),
  namespace,
  signal: new AbortController().signal,
  warn: (text) => void warnings.push(text),
});

export const NO_OPTIONS = { dryRun: false, validate: async () => {} } as const;

export const LIST_ALL: ListOptions = {
  labelSelector: EVERYTHING,
  fieldSelector: EVERY_FIELD,
  limit: 0,
  continueToken: '',
  resourceVersion: '',
  resourceVersionMatch: '',
};

export const WATCH_ALL: WatchOptions = {
  labelSelector: EVERYTHING,
  fieldSelector: EVERY_FIELD,
  start: 'state',
  stateBookmark: false,
  bookmarks: false,
};

export const changing = (
  change: (current: KubernetesObject) => KubernetesObject,
  options: Partial<UpdateOptions> = {},
): UpdateOptions => ({
  dryRun: false,
  createIfMissing: false,
  change: async (current) => change(structuredClone(current ?? {})),
  validateCreate: async () => {},
  validateUpdate: async () => {},
  ...options,
});

export const deleting = (options: Partial<DeleteOptions> = {}): DeleteOptions => ({
  dryRun: false,
  validate: async () => {},
  ...options,
});

/** `404 NotFound: ...`, or that there was no error. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'no error';
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return `${error.code} ${error.reason}: ${error.message}`;
  }
};

/** With every method: those that are not there fail when they are called. */
export const storageIn = (
  { registry }: TestRegistry,
  group: string,
  plural: string,
  subresource = '',
): Required<RestStorage> => registry.storageOf(group, plural, subresource) as Required<RestStorage>;

export interface TestRegistry {
  readonly store: MemoryStore;
  readonly registry: ObjectRegistry;
}

export const testRegistry = (options: Partial<RegistryOptions> = {}): TestRegistry => {
  const store = new MemoryStore();
  let uids = 0;
  const registry = createRegistry({
    store,
    minor: 36,
    clock: systemClock,
    random: seededRandom(5),
    log: silentLog,
    // Those of a second server on one store must differ, as real ones do.
    newUid: () => `${options.store === undefined ? 'uid' : 'other'}-${(uids += 1)}`,
    ...options,
  });
  return { store, registry };
};

/** An object as handlers give it: with what upstream's defaulting sets. */
export const defaulted = (object: KubernetesObject): KubernetesObject => {
  applyDefaults(structOfKind(kindOf(object)!)!, object, { minor: 36, now: '2026-01-01T00:00:00Z' });
  return object;
};

export const podOf = (
  name: string,
  spec: object = {},
  more: KubernetesObject['metadata'] = {},
): KubernetesObject =>
  defaulted({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...more },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

export const serviceOf = (name: string, spec: object = {}): KubernetesObject =>
  defaulted({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], selector: { app: name }, ...spec },
  });
