import { assert } from '../../base/assert.ts';
import { objectKey, type KubernetesObject } from '../../api/meta/object-meta.ts';
import type { Stored } from '../kind.ts';
import type { IndexFunction, Indexers, ObjectKey, Store } from './informer.ts';

const NAMESPACE_INDEX = 'namespace';

interface Index<T extends KubernetesObject> {
  readonly valuesOf: IndexFunction<T>;
  readonly rows: Map<string, Map<ObjectKey, Stored<T>>>;
}

/** Objects by key and by index. Only the informer writes to it. */
export class ObjectStore<T extends KubernetesObject> implements Store<T> {
  readonly #objects = new Map<ObjectKey, Stored<T>>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor() {
    this.addIndexers({ [NAMESPACE_INDEX]: (object) => [object.metadata.namespace ?? ''] });
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): Stored<T> | undefined {
    return this.#objects.get(key);
  }

  find(namespace: string | undefined, name: string): Stored<T> | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name);
  }

  list(): Stored<T>[] {
    return [...this.#objects.values()];
  }

  keys(): ObjectKey[] {
    return [...this.#objects.keys()];
  }

  inNamespace(namespace: string): Stored<T>[] {
    return this.byIndex(NAMESPACE_INDEX, namespace);
  }

  byIndex(index: string, value: string): Stored<T>[] {
    return [...(this.#index(index).rows.get(value)?.values() ?? [])];
  }

  indexValues(index: string): string[] {
    return [...this.#index(index).rows.keys()];
  }

  addIndexers(indexers: Indexers<T>): void {
    for (const [name, valuesOf] of Object.entries(indexers)) {
      const known = this.#indexes.get(name);
      assert(!known || known.valuesOf === valuesOf, `two different functions claim the index ${name}`);
      if (known) continue;
      const index: Index<T> = { valuesOf, rows: new Map() };
      this.#indexes.set(name, index);
      for (const [key, object] of this.#objects) insert(index, key, object);
    }
  }

  /** The object that was there before. */
  set(object: Stored<T>): Stored<T> | undefined {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values())
      if (before) replace(index, key, before, object);
      else insert(index, key, object);
    return before;
  }

  delete(key: ObjectKey): Stored<T> | undefined {
    const before = this.#objects.get(key);
    if (!before) return undefined;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) remove(index, key, before);
    return before;
  }

  #index(name: string): Index<T> {
    const index = this.#indexes.get(name);
    assert(index, `there is no index ${name}`);
    return index;
  }
}

const insert = <T extends KubernetesObject>(index: Index<T>, key: ObjectKey, object: Stored<T>): void => {
  for (const value of index.valuesOf(object)) {
    const row = index.rows.get(value);
    if (row) row.set(key, object);
    else index.rows.set(value, new Map([[key, object]]));
  }
};

/** Most changes of an object leave its index values alone: it stays in its rows, where it was. */
const replace = <T extends KubernetesObject>(
  index: Index<T>,
  key: ObjectKey,
  before: Stored<T>,
  object: Stored<T>,
): void => {
  const [old, values] = [index.valuesOf(before), index.valuesOf(object)];
  if (old.length === values.length && old.every((value, at) => value === values[at])) {
    for (const value of values) index.rows.get(value)?.set(key, object);
    return;
  }
  remove(index, key, before);
  insert(index, key, object);
};

const remove = <T extends KubernetesObject>(index: Index<T>, key: ObjectKey, object: Stored<T>): void => {
  for (const value of index.valuesOf(object)) {
    const row = index.rows.get(value);
    row?.delete(key);
    if (row?.size === 0) index.rows.delete(value);
  }
};
