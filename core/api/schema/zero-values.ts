import { isJsonObject } from '../meta/object-meta.ts';
import type { FieldType, StructType, TypeNode } from './types.ts';

/**
 * Writes what Go's encoder would: structs held by value as `{}` and required scalars as their zero value,
 * so that `resources: {}` and `status: {loadBalancer: {}}` stand where clients of upstream see them.
 * Changes `object` in place.
 */
export const fillZeroValues = (struct: StructType, object: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(object)) {
    const type = struct.fields.get(name)?.type;
    if (type && type.node !== 'scalar') fillInside(type, value);
  }
  for (const field of writtenWhenAbsent(struct))
    if (object[field.name] === undefined) object[field.name] = zeroOf(field);
};

const written = new WeakMap<StructType, readonly FieldType[]>();

/** Most fields of most types are left out when empty; the few that are not are found once. */
const writtenWhenAbsent = (struct: StructType): readonly FieldType[] => {
  const known = written.get(struct);
  if (known) return known;
  const found = [...struct.fields.values()].filter((field) => zeroOf(field) !== undefined);
  written.set(struct, found);
  return found;
};

const fillInside = (type: TypeNode, value: unknown): void => {
  if (type.node === 'list' && Array.isArray(value)) for (const item of value) fillInside(type.items, item);
  if (!isJsonObject(value)) return;
  if (type.node === 'map') for (const item of Object.values(value)) fillInside(type.values, item);
  if (type.node === 'struct') fillZeroValues(type.struct, value);
};

const zeroOf = ({ type, byValue, required, isPointer, isAlwaysWritten }: FieldType): unknown => {
  if (type.node === 'struct') {
    if (!byValue) return undefined;
    const value: Record<string, unknown> = {};
    fillZeroValues(type.struct, value);
    return value;
  }
  if (isAlwaysWritten && (type.node !== 'scalar' || type.scalar === 'time' || type.scalar === 'microTime'))
    return null;
  if ((!required && !isAlwaysWritten) || isPointer || type.node !== 'scalar') return undefined;
  switch (type.scalar) {
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
      return 0;
    case 'bytes':
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
      return undefined;
  }
};
