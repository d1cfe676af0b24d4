import { isJsonObject } from '../meta/object-meta.ts';
import type { FieldType, StructType, TypeNode } from './types.ts';

/**
 * Writes what Go's encoder would: structs held by value as `{}` and required scalars as their zero value,
 * so that `resources: {}` and `status: {loadBalancer: {}}` stand where clients of upstream see them.
 * Changes `object` in place, and tells whether it holds an empty list or map that storage writes as null.
 */
export const fillZeroValues = (struct: StructType, object: Record<string, unknown>): boolean => {
  let hasEmpty = false;
  for (const [name, value] of Object.entries(object)) {
    const type = struct.fields.get(name)?.type;
    if (type && type.node !== 'scalar' && fillInside(type, value)) hasEmpty = true;
  }
  for (const field of writtenWhenAbsent(struct)) {
    const value = object[field.name];
    if (value === undefined) object[field.name] = zeroOf(field);
    else if (isEmpty(field, value)) hasEmpty = true;
  }
  return hasEmpty;
};

/**
 * Storage of upstream does not tell an empty list from none: where it writes the field, it writes null. Only called for
 * objects that have one, after their validation, which still tells them apart. Changes `object` in place.
 */
export const nullEmptyCollections = (struct: StructType, object: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(object)) {
    const field = struct.fields.get(name);
    if (!field) continue;
    if (isEmpty(field, value) && zeroOf(field) === null) object[name] = null;
    else eachStruct(field.type, value, nullEmptyCollections);
  }
};

const isEmpty = ({ type }: FieldType, value: unknown): boolean => {
  if (type.node === 'list') return Array.isArray(value) && value.length === 0;
  return type.node === 'map' && isJsonObject(value) && Object.keys(value).length === 0;
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

const eachStruct = (
  type: TypeNode,
  value: unknown,
  visit: (struct: StructType, object: Record<string, unknown>) => void,
): void => {
  if (type.node === 'list' && Array.isArray(value))
    for (const item of value) eachStruct(type.items, item, visit);
  if (!isJsonObject(value)) return;
  if (type.node === 'map') for (const item of Object.values(value)) eachStruct(type.values, item, visit);
  if (type.node === 'struct') visit(type.struct, value);
};

const fillInside = (type: TypeNode, value: unknown): boolean => {
  let hasEmpty = false;
  eachStruct(type, value, (struct, object) => {
    if (fillZeroValues(struct, object)) hasEmpty = true;
  });
  return hasEmpty;
};

const zeroOf = ({ type, byValue, required, isPointer, isAlwaysWritten }: FieldType): unknown => {
  if (type.node === 'struct') {
    if (!byValue) return undefined;
    const value: Record<string, unknown> = {};
    fillZeroValues(type.struct, value);
    return value;
  }
  if (isPointer) return isAlwaysWritten ? null : undefined;
  if (!required && !isAlwaysWritten) return undefined;
  if (type.node !== 'scalar') return null;
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
      return null;
    case 'quantity':
      return isAlwaysWritten ? '0' : undefined;
    case 'intOrString':
      return undefined;
  }
};
