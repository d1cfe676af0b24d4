import { jsonText } from '../../../api/meta/json-text.ts';
import { child, index, key } from '../../../api/field/field-path.ts';
import { duplicate, invalid, type FieldError } from '../../../api/field/field-error.ts';
import { isMap, type JsonMap, type Structural } from './structural.ts';

/** Stands for a key that an item does not have. */
const UNSPECIFIED = Symbol('unspecified');

/** The second of each that is there more than once. */
const repeated = (values: readonly unknown[]): readonly number[] => {
  const seen = new Map<unknown, number>();
  const found: number[] = [];
  values.forEach((value, at) => {
    const id = typeof value === 'object' && value !== null ? jsonText(sorted(value)) : value;
    const times = seen.get(id) ?? 0;
    seen.set(id, times + 1);
    if (times === 1) found.push(at);
  });
  return found;
};

/** Go writes the members of a map in the order of their names. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
};

const keyOf = (item: unknown, names: readonly string[]): unknown => {
  if (names.length === 1) {
    const name = names[0]!;
    return isMap(item) && Object.hasOwn(item, name) ? item[name] : UNSPECIFIED;
  }
  if (!isMap(item)) return {};
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]),
  );
};

const listErrors = (path: string, list: readonly unknown[], schema: Structural): FieldError[] => {
  if (schema.listType === 'set') return repeated(list).map((at) => duplicate(index(path, at), list[at]));
  if (schema.listType !== 'map') return [];
  const wrong = list.findIndex((item) => item !== null && !isMap(item));
  if (wrong >= 0)
    return [invalid(index(path, wrong), list[wrong], 'must be an object for an array of list-type map')];
  const names = schema.listMapKeys;
  const keys = list.map((item) => keyOf(item, names));
  return repeated(keys).map((at) => {
    const shown = keys[at] === UNSPECIFIED ? {} : names.length === 1 ? { [names[0]!]: keys[at] } : keys[at];
    return duplicate(index(path, at), shown);
  });
};

/** Items of sets and of lists with keys must be unique. */
export const listTypeErrors = (
  path: string,
  value: unknown,
  schema: Structural | undefined,
): FieldError[] => {
  if (schema?.hasKeyedLists !== true) return [];
  if (Array.isArray(value))
    return [
      ...listErrors(path, value, schema),
      ...value.flatMap((item, at) => listTypeErrors(index(path, at), item, schema.items)),
    ];
  if (!isMap(value)) return [];
  const members: JsonMap = value;
  return Object.keys(members).flatMap((name) => {
    const property = schema.properties.get(name);
    return property
      ? listTypeErrors(child(path, name), members[name], property)
      : listTypeErrors(key(path, name), members[name], schema.values);
  });
};
