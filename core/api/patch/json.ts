/** What JSON can hold. Patches treat it as immutable: unchanged parts of a result are shared with the input. */
/** A bigint is an integer that a number cannot hold. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };
export type MutableObject = Record<string, Json>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

export const getOwn = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Assignment that also works for the key `__proto__`, which JSON may hold like any other. */
export function setOwn(object: MutableObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

export function jsonEquals(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => jsonEquals(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key], b[key]))
  );
}

/** Collects changes to an object and copies it once, and only if there are any. */
export class ObjectDraft {
  readonly #base: JsonObject;
  #copy: MutableObject | undefined;

  constructor(base: JsonObject) {
    this.#base = base;
  }

  get result(): JsonObject {
    return this.#copy ?? this.#base;
  }

  get(key: string): Json | undefined {
    return getOwn(this.result, key);
  }

  has(key: string): boolean {
    return Object.hasOwn(this.result, key);
  }

  set(key: string, value: Json): void {
    if (this.has(key) && this.get(key) === value) return;
    setOwn((this.#copy ??= { ...this.#base }), key, value);
  }

  delete(key: string): void {
    if (this.has(key)) delete (this.#copy ??= { ...this.#base })[key];
  }
}

/** fmt's %v, which upstream prints maps and lists with. */
export function goValue(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (isList(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goValue(value[key])}`);
  return `map[${entries.join(' ')}]`;
}
