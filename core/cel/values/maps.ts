import { MAP, type Type } from '../types/type.ts';
import { CelDouble, CelObject, CelUint, type Value, typeOf } from './value.ts';
import { printValue } from './print.ts';
import { intOf } from './integers.ts';

/** What a key is looked up by: an int and a uint of one value are one key. */
type HashKey = string | number | bigint | boolean;

const hashKey = (key: Value): HashKey | undefined => {
  if (typeof key !== 'object') return key;
  return key instanceof CelUint ? intOf(key.value) : undefined;
};

/** Upstream takes any value for a key; such keys are rare, and looked up by their text. */
const oddKey = (key: Value): string => `${typeOf(key).name} ${printValue(key)}`;

interface Entry {
  readonly key: Value;
  readonly value: Value;
}

/** An immutable map; values may be converted when they are read. */
export abstract class CelMap extends CelObject {
  readonly type: Type = MAP;
  abstract readonly size: number;
  /** The value of a key, an error if the key cannot be a key of this map, undefined if there is none. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
  /** Presence alone, which must not need the value. */
  has(key: Value): boolean {
    return this.find(key) !== undefined;
  }
}

export class LiteralMap extends CelMap {
  readonly #entries: Map<HashKey, Entry> = new Map();
  #odd: Map<string, Entry> | undefined;

  static of(entries: Iterable<readonly [Value, Value]>): LiteralMap {
    const map = new LiteralMap();
    for (const [key, value] of entries) map.set(key, value);
    return map;
  }

  /** Only while the map is built. */
  set(key: Value, value: Value): void {
    const hash = hashKey(key);
    if (hash !== undefined) this.#entries.set(hash, { key, value });
    else (this.#odd ??= new Map()).set(oddKey(key), { key, value });
  }
  delete(key: Value): void {
    const hash = hashKey(key);
    if (hash !== undefined) this.#entries.delete(hash);
    else this.#odd?.delete(oddKey(key));
  }

  get size(): number {
    return this.#entries.size + (this.#odd?.size ?? 0);
  }
  find(key: Value): Value | undefined {
    const hash = hashKey(key);
    if (hash !== undefined) return this.#entries.get(hash)?.value;
    const odd = this.#odd?.get(oddKey(key))?.value;
    if (odd !== undefined || !(key instanceof CelDouble) || !Number.isInteger(key.value)) return odd;
    // A double finds the int of the same value, but not the other way round.
    return this.#entries.get(intOf(BigInt(key.value)))?.value;
  }
  *keys(): Generator<Value> {
    for (const { key } of this.#entries.values()) yield key;
    if (this.#odd !== undefined) for (const { key } of this.#odd.values()) yield key;
  }
}

/** The accumulator of a macro that builds a map: grows in place, because nothing else can refer to it. */
export class GrowingMap extends LiteralMap {}

/** An object of raw data without a schema; values are converted when they are read. */
export class NativeMap extends CelMap {
  #size: number | undefined;

  readonly raw: Readonly<Record<string, unknown>>;
  readonly convert: (value: unknown) => Value;

  constructor(raw: Readonly<Record<string, unknown>>, convert: (value: unknown) => Value) {
    super();
    this.raw = raw;
    this.convert = convert;
  }
  get size(): number {
    return (this.#size ??= Object.keys(this.raw).length);
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.raw, key)) return undefined;
    const value = this.raw[key];
    return value === undefined ? undefined : this.convert(value);
  }
  keys(): Iterable<Value> {
    return Object.keys(this.raw);
  }
}
