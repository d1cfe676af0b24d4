import type { Type } from '../types/type.ts';
import { CelObject, type Value } from './value.ts';

/** A value with named fields and a type of its own: what `Name{...}` makes, or what a host computes on demand. */
export abstract class CelStruct extends CelObject {
  abstract override readonly type: Type;
  abstract find(field: string): Value | undefined;
  has(field: string): boolean {
    return this.find(field) !== undefined;
  }
}

export class LiteralStruct extends CelStruct {
  readonly type: Type;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(type: Type, fields: ReadonlyMap<string, Value>) {
    super();
    this.type = type;
    this.fields = fields;
  }
  find(field: string): Value | undefined {
    return this.fields.get(field);
  }
}

/** Fields that are computed when they are first read, such as the variables of a policy. */
export class LazyStruct extends CelStruct {
  readonly #computed = new Map<string, Value>();

  readonly type: Type;
  readonly compute: ReadonlyMap<string, () => Value>;

  constructor(type: Type, compute: ReadonlyMap<string, () => Value>) {
    super();
    this.type = type;
    this.compute = compute;
  }
  find(field: string): Value | undefined {
    const known = this.#computed.get(field);
    if (known !== undefined) return known;
    const value = this.compute.get(field)?.();
    if (value !== undefined) this.#computed.set(field, value);
    return value;
  }
  override has(field: string): boolean {
    return this.compute.has(field);
  }
}
