import { typeName, valueName } from './go-names.ts';
import type { TypeNode } from './types.ts';

/** Values as Go's reflection names their kinds. */
const kindName = (value: unknown): string => {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map';
};

/**
 * What upstream's converter from plain maps says of a value of another type. Strategic merge patches go through it,
 * while bodies and the other patches go through the JSON decoder, which has other words.
 */
export const converterSentence = (type: TypeNode, value: unknown): string => {
  switch (type.node) {
    case 'list':
      return `cannot restore slice from ${kindName(value)}`;
    case 'map':
      return `cannot restore map from ${kindName(value)}`;
    case 'struct':
      return `cannot restore struct from: ${kindName(value)}`;
    case 'opaque':
      return `unrecognized type: ${typeName(type)}`;
    case 'scalar':
      break;
  }
  const wanted = typeName(type);
  switch (type.scalar) {
    case 'bytes':
      return `cannot restore slice from ${kindName(value)}`;
    // These types read their own JSON.
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
      return `json: cannot unmarshal ${valueName(value)} into Go value of type ${wanted}`;
    case 'string':
    case 'boolean':
    case 'int32':
    case 'int64':
    case 'double':
      // Go would turn a number into a string of one character; that much is known, and refused.
      return typeof value === 'number' && type.scalar !== 'boolean'
        ? `cannot convert ${kindName(value)} to ${wanted}`
        : `unrecognized type: ${wanted}`;
  }
};
