import { type SelfEqual, equal } from '../values/compare.ts';
import { ArrayList, CelList } from '../values/lists.ts';
import { CelMap } from '../values/maps.ts';
import { printValue } from '../values/print.ts';
import { CelError, NO_SUCH_OVERLOAD, type Value } from '../values/value.ts';
import { escapeName, unescapeName } from '../values/escape.ts';

/** How a list decides what is the same element (`x-kubernetes-list-type`). */
export interface ListIdentity {
  readonly kind: 'atomic' | 'set' | 'map';
  /** Properties that identify an element of a list of kind `map`, as expressions name them. */
  readonly keys: readonly string[];
}

const elementKey = (value: Value, keys: readonly string[]): string =>
  value instanceof CelMap
    ? JSON.stringify(
        keys.map((key) => {
          const found = value.find(key);
          return found === undefined ? null : [typeof found, printValue(found)];
        }),
      )
    : printValue(value);

/** A list with a schema: sets and lists with keys merge on `+`, and compare without regard to order. */
export class SchemaList extends ArrayList implements SelfEqual {
  readonly identity: ListIdentity;

  constructor(values: readonly Value[], identity: ListIdentity) {
    super(values);
    this.identity = identity;
  }

  #keyOf(value: Value): string {
    return this.identity.kind === 'map'
      ? elementKey(value, this.identity.keys)
      : `${typeof value} ${printValue(value)}`;
  }

  override concat(other: CelList): CelList {
    if (this.identity.kind === 'atomic') return super.concat(other);
    const merged = new Map(this.values.map((value) => [this.#keyOf(value), value]));
    for (const value of other) {
      const key = this.#keyOf(value);
      if (this.identity.kind === 'map' || !merged.has(key)) merged.set(key, value);
    }
    return new SchemaList([...merged.values()], this.identity);
  }

  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelList)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    if (this.size !== other.size) return false;
    if (this.identity.kind === 'atomic') return this.#equalsInOrder(other);
    const known = new Map(this.values.map((value) => [this.#keyOf(value), value]));
    for (const value of other) {
      const mine = known.get(this.#keyOf(value));
      if (mine === undefined) return false;
      const same = this.identity.kind === 'set' ? true : equal(mine, value);
      if (same !== true) return same;
    }
    return true;
  }

  #equalsInOrder(other: CelList): boolean | CelError {
    for (let index = 0; index < this.size; index++) {
      const same = equal(this.at(index), other.at(index));
      if (same !== true) return same;
    }
    return true;
  }
}

const sameData = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        sameData((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
};

/** Reads a property by its schema; undefined if the schema has none. */
export type ReadProperty = (name: string) => ((raw: unknown) => Value) | undefined;

/** An object or map with a schema. Properties that the schema does not have are not visible. */
export class SchemaMap extends CelMap implements SelfEqual {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly readProperty: ReadProperty;
  /** Objects have names that are escaped in expressions; keys of maps are data. */
  readonly isObject: boolean;
  readonly #known = new Map<string, Value>();

  constructor(raw: Readonly<Record<string, unknown>>, readProperty: ReadProperty, isObject: boolean) {
    super();
    this.raw = raw;
    this.readProperty = readProperty;
    this.isObject = isObject;
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return key instanceof CelError ? key : NO_SUCH_OVERLOAD;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = this.isObject ? unescapeName(key) : key;
    if (name === undefined || !Object.hasOwn(this.raw, name)) return undefined;
    const raw = this.raw[name];
    if (raw === undefined || (this.isObject && raw === null)) return undefined;
    const value = this.readProperty(name)?.(raw);
    if (value !== undefined) this.#known.set(key, value);
    return value;
  }

  *keys(): Generator<Value> {
    for (const name of Object.keys(this.raw))
      if (this.readProperty(name) !== undefined) yield this.isObject ? (escapeName(name) ?? name) : name;
  }

  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelMap)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    if (this.size !== other.size) return false;
    for (const name of Object.keys(this.raw)) {
      const same =
        this.readProperty(name) === undefined
          ? this.#sameUnknown(name, other)
          : this.#sameKnown(this.isObject ? (escapeName(name) ?? name) : name, other);
      if (same !== true) return same;
    }
    return true;
  }

  #sameKnown(key: string, other: CelMap): boolean | CelError {
    const mine = this.find(key);
    const theirs = other.find(key);
    if (mine === undefined || theirs === undefined) return mine === theirs;
    return equal(mine, theirs);
  }

  #sameUnknown(name: string, other: CelMap): boolean | CelError {
    if (!(other instanceof SchemaMap)) return NO_SUCH_OVERLOAD;
    return !Object.hasOwn(other.raw, name) || sameData(this.raw[name], other.raw[name]);
  }
}
