import { jsonText } from '../../../api/meta/json-text.ts';
import { sameValue } from '../../../api/validation/read.ts';
import { isMap, type Structural } from '../structural/structural.ts';

/**
 * A value of an update beside the one it replaces. Rules that an object broke before they were there do not keep it from
 * being changed elsewhere: what is wrong with an unchanged value is passed over ("ratcheting").
 */
export class Correlated {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: Structural | undefined;
  #isUnchanged: boolean | undefined;
  #oldByKey: ReadonlyMap<string, unknown> | undefined;

  constructor(value: unknown, old: unknown, schema: Structural | undefined) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  get isUnchanged(): boolean {
    return (this.#isUnchanged ??= this.value === this.old || sameValue(this.value, this.old));
  }

  /** Of a member; undefined where the old object does not have it. */
  member(name: string): Correlated | undefined {
    const { value, old } = this;
    if (this.#schema?.mapType === 'atomic') return undefined;
    if (!isMap(value) || !isMap(old) || !Object.hasOwn(old, name)) return undefined;
    return new Correlated(value[name], old[name], this.#schema?.member(name));
  }

  /** Of an item of a list whose items have keys; others have no counterpart. */
  item(at: number): Correlated | undefined {
    const { value, old } = this;
    const schema = this.#schema;
    if (!Array.isArray(value) || !Array.isArray(old) || schema?.listType !== 'map') return undefined;
    const keyOf = (item: unknown): string =>
      jsonText(schema.listMapKeys.map((name) => (isMap(item) ? item[name] : undefined)));
    this.#oldByKey ??= new Map(old.map((item) => [keyOf(item), item]));
    const key = keyOf(value[at]);
    if (!this.#oldByKey.has(key)) return undefined;
    return new Correlated(value[at], this.#oldByKey.get(key), schema.items);
  }
}
