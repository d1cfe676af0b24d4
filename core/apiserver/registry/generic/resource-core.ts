import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { GroupKind, GroupResource, KubernetesObject } from '../../../api/meta/index.ts';
import { storageKeyOf, storagePrefixOf, type ResourceType } from '../../../api/scheme/index.ts';
import type { StructType } from '../../../api/schema/index.ts';
import { WatchCache, type WatchCacheMetrics } from '../../storage/watch-cache/watch-cache.ts';
import type { ListTurns } from '../../storage/watch-cache/list-turns.ts';
import type { Store } from '../../storage/store.ts';
import { ObjectCodec } from './codec.ts';
import type { ResourceDefinition } from './resource-definition.ts';

export interface ResourceParts {
  readonly definition: ResourceDefinition;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly newUid: () => string;
  readonly cacheMetrics?: WatchCacheMetrics | undefined;
  readonly turns?: ListTurns | undefined;
  /** The same resource in another version: both read and write the same objects, which are cached once. */
  readonly shared?: ResourceCore;
}

/** What reads, writes and deletions of one resource share: its names, its bytes and its cache. */
export class ResourceCore {
  readonly definition: ResourceDefinition;
  readonly type: ResourceType;
  readonly resource: GroupResource;
  /** Of the objects as they are kept. */
  readonly kind: GroupKind;
  readonly struct: StructType | undefined;
  readonly store: Store;
  readonly codec: ObjectCodec;
  readonly clock: Clock;
  readonly random: Random;
  readonly newUid: () => string;
  readonly #parts: ResourceParts;
  #cache: WatchCache<KubernetesObject> | undefined;
  #closed = false;

  constructor(parts: ResourceParts) {
    const { definition } = parts;
    const { type, struct, findStruct } = definition;
    this.#parts = parts;
    this.definition = definition;
    this.type = type;
    this.resource = { group: type.group, resource: type.plural };
    this.kind = { group: type.storage.gvk.group, kind: type.storage.gvk.kind };
    this.struct = struct;
    this.store = parts.store;
    this.codec =
      parts.shared?.codec ??
      new ObjectCodec(type.storage.gvk, findStruct, {
        settle: definition.settle && ((object) => definition.settle!(object)),
        keepsVersion: definition.stored !== undefined,
      });
    this.clock = parts.clock;
    this.random = parts.random;
    this.newUid = parts.newUid;
  }

  key(namespace: string, name: string): string {
    return storageKeyOf(this.type, namespace, name);
  }

  prefix(namespace: string): string {
    return storagePrefixOf(this.type, namespace);
  }

  /** Started by anyone who first needs it: a resource that no one lists costs nothing. */
  get cache(): WatchCache<KubernetesObject> {
    if (this.#parts.shared) return this.#parts.shared.cache;
    if (this.#cache !== undefined) return this.#cache;
    const { store, clock, random, log, cacheMetrics, turns } = this.#parts;
    this.#cache = new WatchCache({
      store,
      prefix: this.prefix(''),
      codec: this.codec,
      clock,
      random,
      log: log.with({ resource: this.type.plural }),
      metrics: cacheMetrics,
      turns,
    });
    if (this.#closed) this.#cache.close();
    else this.#cache.start();
    return this.#cache;
  }

  get cacheIfStarted(): WatchCache<KubernetesObject> | undefined {
    return this.#parts.shared ? this.#parts.shared.cacheIfStarted : this.#cache;
  }

  /** This resource in another of its versions. */
  inVersion(definition: ResourceDefinition): ResourceCore {
    return new ResourceCore({ ...this.#parts, definition, shared: this });
  }

  close(): void {
    this.#closed = true;
    this.#cache?.close();
  }
}
