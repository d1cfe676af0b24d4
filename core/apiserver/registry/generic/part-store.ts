import type { GetOptions, Held, RestStorage, Scope, Updated, UpdateOptions } from '../rest-storage.ts';
import type { GenericStore } from './generic-store.ts';
import { ObjectWrites } from './object-writes.ts';
import type { Strategy } from './strategy.ts';

/** A part of an object that is written through an endpoint of its own: `/status`, `/approval`, `/finalize`. */
export class PartStore implements RestStorage {
  readonly #parent: GenericStore;
  readonly #writes: ObjectWrites;
  readonly resetFields: readonly (readonly string[])[];
  readonly get?: (scope: Scope, name: string, options: GetOptions) => Promise<Held>;

  constructor(parent: GenericStore, strategy: Strategy, options: { readonly isReadable?: boolean } = {}) {
    this.#parent = parent;
    this.#writes = new ObjectWrites(parent.core, parent.reads, { ...strategy, allowCreateOnUpdate: false });
    this.resetFields = strategy.resetFields ?? [];
    if (options.isReadable !== false) this.get = (...args) => parent.get(...args);
  }

  json(held: Held): Uint8Array | undefined {
    return this.#parent.json(held);
  }

  update(scope: Scope, name: string, options: UpdateOptions): Promise<Updated> {
    return this.#writes.update(scope, name, { ...options, createIfMissing: false });
  }
}
