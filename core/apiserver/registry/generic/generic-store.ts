import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { CacheWatcher } from '../../storage/watch-cache/watcher.ts';
import type {
  CreateOptions,
  Deleted,
  DeleteOptions,
  GetOptions,
  Held,
  HeldList,
  ListOptions,
  RestStorage,
  Scope,
  Updated,
  UpdateOptions,
  WatchOptions,
} from '../rest-storage.ts';
import { ObjectDeletes } from './object-deletes.ts';
import { ObjectReads } from './object-reads.ts';
import { ObjectWrites } from './object-writes.ts';
import type { ResourceCore } from './resource-core.ts';
import type { Strategy } from './strategy.ts';

/** One stored resource with everything that can be done to it. */
export class GenericStore implements RestStorage {
  readonly core: ResourceCore;
  readonly strategy: Strategy;
  readonly reads: ObjectReads;
  readonly writes: ObjectWrites;
  readonly deletes: ObjectDeletes;

  constructor(core: ResourceCore, strategy: Strategy) {
    this.core = core;
    this.strategy = strategy;
    this.reads = new ObjectReads(core);
    this.writes = new ObjectWrites(core, this.reads, strategy);
    this.deletes = new ObjectDeletes(core, this.reads, strategy);
  }

  get returnsDeletedObject(): boolean {
    return this.strategy.returnsDeletedObject === true;
  }

  get allowCreateOnUpdate(): boolean {
    return this.strategy.allowCreateOnUpdate === true;
  }

  get resetFields(): readonly (readonly string[])[] {
    return this.strategy.resetFields ?? [];
  }

  json(held: Held): Uint8Array | undefined {
    return this.core.codec.json(held);
  }

  itemJson(held: Held): readonly Uint8Array[] | undefined {
    return this.core.codec.itemJson(held);
  }

  get(scope: Scope, name: string, options: GetOptions): Promise<Held> {
    return this.reads.get(scope, name, options);
  }

  list(scope: Scope, options: ListOptions): Promise<HeldList> {
    return this.reads.list(scope, options);
  }

  watch(scope: Scope, options: WatchOptions): Promise<CacheWatcher<KubernetesObject>> {
    return this.reads.watch(scope, options);
  }

  create(scope: Scope, object: KubernetesObject, options: CreateOptions): Promise<Held> {
    return this.writes.create(scope, object, options);
  }

  update(scope: Scope, name: string, options: UpdateOptions): Promise<Updated> {
    return this.writes.update(scope, name, options);
  }

  delete(scope: Scope, name: string, options: DeleteOptions): Promise<Deleted> {
    return this.deletes.delete(scope, name, options);
  }

  deleteCollection(scope: Scope, list: ListOptions, options: DeleteOptions): Promise<HeldList> {
    return this.deletes.deleteCollection(scope, list, options, (...args) => this.delete(...args));
  }
}
