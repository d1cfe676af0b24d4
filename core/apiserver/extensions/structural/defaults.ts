import { copyJson, isMap, setOwn, type JsonMap, type Structural } from './structural.ts';

const isReplaced = (value: unknown, schema: Structural | undefined): boolean =>
  value === null && schema !== undefined && !schema.isNullable;

/**
 * The value with the defaults of its schema; the value itself where nothing is missing. A null that the schema does not
 * allow counts as missing.
 */
export const withDefaults = <T>(value: T, schema: Structural | undefined): T => {
  if (schema?.hasDefaults !== true || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listWithDefaults(value, schema) as T;
  return isMap(value) ? (mapWithDefaults(value, schema) as T) : value;
};

const listWithDefaults = (value: readonly unknown[], schema: Structural): readonly unknown[] => {
  const { items } = schema;
  let copy: unknown[] | undefined;
  for (let at = 0; at < value.length; at += 1) {
    const inside = value[at];
    const whole = isReplaced(inside, items) ? (copyJson(items?.default) ?? null) : inside;
    const filled = withDefaults(whole, items);
    if (filled !== inside) (copy ??= [...value])[at] = filled;
  }
  return copy ?? value;
};

const mapWithDefaults = (value: JsonMap, schema: Structural): JsonMap => {
  let copy: JsonMap | undefined;
  for (const [name, property] of schema.properties) {
    if (!property.hasDefaults) continue;
    const isPresent = Object.hasOwn(value, name);
    if (isPresent && !isReplaced(value[name], property)) continue;
    if (property.default === undefined) continue;
    setOwn((copy ??= { ...value }), name, copyJson(property.default));
  }
  const filled = copy ?? value;
  for (const name of Object.keys(filled)) {
    const inside = filled[name];
    const property = schema.properties.get(name);
    const member = property ?? schema.values;
    if (member?.hasDefaults !== true) continue;
    const whole =
      property === undefined && isReplaced(inside, member) ? (copyJson(member.default) ?? null) : inside;
    const below = withDefaults(whole, member);
    if (below !== inside) setOwn((copy ??= { ...value }), name, below);
  }
  return copy ?? value;
};
