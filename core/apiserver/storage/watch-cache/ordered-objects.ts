import type { CachedObject } from './cached-object.ts';

/**
 * The current objects by key, in etcd's order of keys (that of UTF-16 and of UTF-8 are the same for the keys of
 * Kubernetes, which are ASCII).
 */
export class OrderedObjects<T> {
  readonly #byKey = new Map<string, CachedObject<T>>();
  #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): CachedObject<T> | undefined {
    return this.#byKey.get(key);
  }

  set(object: CachedObject<T>): void {
    if (!this.#byKey.has(object.key)) this.#keys.splice(this.#lowerBound(object.key), 0, object.key);
    this.#byKey.set(object.key, object);
  }

  delete(key: string): void {
    if (this.#byKey.delete(key)) this.#keys.splice(this.#lowerBound(key), 1);
  }

  /** Replaces everything; `objects` come in order of their keys. */
  replace(objects: readonly CachedObject<T>[]): void {
    this.#byKey.clear();
    for (const object of objects) this.#byKey.set(object.key, object);
    this.#keys = objects.map((object) => object.key);
  }

  /** Those that begin with `prefix`, from `startKey` on, at most `limit` (0: all); and how many are left. */
  range(
    prefix: string,
    options: { readonly limit?: number | undefined; readonly startKey?: string | undefined } = {},
  ): { readonly objects: CachedObject<T>[]; readonly remaining: number } {
    const start = this.#lowerBound(options.startKey ?? prefix);
    const end = this.#prefixEnd(prefix);
    const limit = options.limit ?? 0;
    const stop = limit > 0 ? Math.min(end, start + limit) : end;
    const objects = this.#keys.slice(start, stop).map((key) => this.#byKey.get(key)!);
    return { objects, remaining: Math.max(0, end - stop) };
  }

  #lowerBound(key: string): number {
    return this.#firstWhere((candidate) => candidate >= key);
  }

  #prefixEnd(prefix: string): number {
    return this.#firstWhere((candidate) => candidate > prefix && !candidate.startsWith(prefix));
  }

  #firstWhere(test: (key: string) => boolean): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (test(this.#keys[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
