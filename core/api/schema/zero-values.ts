import { isJsonObject } from '../meta/object-meta.ts';
import type { FieldType, StructType, TypeNode } from './types.ts';

/**
 * Writes what Go's encoder would: structs held by value as `{}` and required scalars as their zero value,
 * so that `resources: {}` and `status: {loadBalancer: {}}` stand where clients of upstream see them.
 * Changes `object` in place.
 */
export const fillZeroValues = (struct: StructType, object: Record<string, unknown>): void => {
  for (const field of struct.fields.values()) {
    const value = object[field.name];
    if (value === undefined) {
      const zero = zeroOf(field);
      if (zero !== undefined) object[field.name] = zero;
    } else {
      fillInside(field.type, value);
    }
  }
};

const fillInside = (type: TypeNode, value: unknown): void => {
  if (type.node === 'list' && Array.isArray(value)) for (const item of value) fillInside(type.items, item);
  if (!isJsonObject(value)) return;
  if (type.node === 'map') for (const item of Object.values(value)) fillInside(type.values, item);
  if (type.node === 'struct') fillZeroValues(type.struct, value);
};

const zeroOf = ({ type, byValue, required, isPointer }: FieldType): unknown => {
  if (type.node === 'struct') {
    if (!byValue) return undefined;
    const value: Record<string, unknown> = {};
    fillZeroValues(type.struct, value);
    return value;
  }
  if (!required || isPointer || type.node !== 'scalar') return undefined;
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
