import { LIST, type Type } from '../types/type.ts';
import { CelObject, type Value } from './value.ts';
import { spendWork } from './work.ts';

/** An immutable sequence; elements may be converted when they are read. */
export abstract class CelList extends CelObject {
  readonly type: Type = LIST;
  abstract readonly size: number;
  /** Only for 0 <= index < size. */
  abstract at(index: number): Value;

  /** What `this + other` is; lists with a schema of their own merge instead. */
  concat(other: CelList): CelList {
    if (this.size === 0) return other;
    if (other.size === 0) return this;
    return new ConcatenatedList(this, other);
  }

  *[Symbol.iterator](): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }

  toArray(): Value[] {
    spendWork(this.size);
    const values: Value[] = [];
    for (let index = 0; index < this.size; index++) values.push(this.at(index));
    return values;
  }
}

export class ArrayList extends CelList {
  readonly values: readonly Value[];

  constructor(values: readonly Value[]) {
    super();
    this.values = values;
  }
  get size(): number {
    return this.values.length;
  }
  at(index: number): Value {
    return this.values[index]!;
  }
  override toArray(): Value[] {
    spendWork(this.size);
    return this.values.slice();
  }
}

/** A list of raw data, each element converted when it is read. */
export class NativeList extends CelList {
  readonly raw: readonly unknown[];
  readonly convert: (element: unknown) => Value;

  constructor(raw: readonly unknown[], convert: (element: unknown) => Value) {
    super();
    this.raw = raw;
    this.convert = convert;
  }
  get size(): number {
    return this.raw.length;
  }
  at(index: number): Value {
    return this.convert(this.raw[index]);
  }
}

/** Two lists one after the other, as a tree: making it takes no time, and an element is found by going down. */
class ConcatenatedList extends CelList {
  readonly first: CelList;
  readonly second: CelList;
  readonly size: number;

  constructor(first: CelList, second: CelList) {
    super();
    this.first = first;
    this.second = second;
    this.size = first.size + second.size;
  }

  at(index: number): Value {
    return elementOf(this, index);
  }

  override toArray(): Value[] {
    spendWork(this.size);
    const values: Value[] = [];
    const waiting: CelList[] = [this];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next instanceof ConcatenatedList) waiting.push(next.second, next.first);
      else for (let index = 0; index < next.size; index++) values.push(next.at(index));
    }
    return values;
  }
}

const elementOf = (list: CelList, index: number): Value => {
  let part = list;
  let rest = index;
  while (part instanceof ConcatenatedList) {
    const isSecond: boolean = rest >= part.first.size;
    if (isSecond) rest -= part.first.size;
    part = isSecond ? part.second : part.first;
  }
  return part.at(rest);
};

/**
 * The accumulator of a macro that builds a list: grows in place, because nothing else can refer to it before the
 * loop ends.
 */
export class GrowingList extends CelList {
  readonly values: Value[] = [];
  get size(): number {
    return this.values.length;
  }
  at(index: number): Value {
    return this.values[index]!;
  }
  override concat(other: CelList): CelList {
    for (let index = 0; index < other.size; index++) this.values.push(other.at(index));
    return this;
  }
}
