import { unreachable } from '../../base/assert.ts';
import type { Scalar, StructType, TypeNode } from './types.ts';

/** How Go's JSON decoder names types and values in its errors; clients and tests match these sentences. */
const SCALAR_NAMES: Readonly<Record<Scalar, string>> = {
  string: 'string',
  boolean: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
  time: 'string',
  microTime: 'string',
  quantity: 'resource.Quantity',
  intOrString: 'int32',
};

export const structName = (struct: StructType): string => struct.id.slice(struct.id.lastIndexOf('.') + 1);

export const typeName = (type: TypeNode): string => {
  switch (type.node) {
    case 'scalar':
      return SCALAR_NAMES[type.scalar];
    case 'opaque':
      return 'interface {}';
    case 'list':
      return `[]${typeName(type.items)}`;
    case 'map':
      return `map[string]${typeName(type.values)}`;
    case 'struct': {
      const parts = type.struct.id.split('.');
      return parts.slice(-2).join('.');
    }
    default:
      return unreachable(type, 'type');
  }
};

export const valueName = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'string' || typeof value === 'number' ? typeof value : 'object';
};
