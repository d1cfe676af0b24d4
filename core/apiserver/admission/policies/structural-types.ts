import type { StructType, TypeNode } from '../../../api/schema/index.ts';
import type { StructuralSchema } from '../../../cel/index.ts';

/** Where a type refers to itself, or the schema does not describe the inside, an expression may say anything. */
const ANYTHING: StructuralSchema = { 'x-kubernetes-int-or-string': true };

const SCALARS: Readonly<Record<string, StructuralSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
};

const schemaOf = (node: TypeNode, within: ReadonlySet<string>): StructuralSchema => {
  switch (node.node) {
    case 'scalar':
      return SCALARS[node.scalar] ?? ANYTHING;
    case 'opaque':
      return ANYTHING;
    case 'list':
      return { type: 'array', items: schemaOf(node.items, within) };
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(node.values, within) };
    case 'struct':
      return structSchema(node.struct, within);
  }
};

const structSchema = (struct: StructType, within: ReadonlySet<string>): StructuralSchema => {
  if (within.has(struct.id)) return ANYTHING;
  const inside = new Set([...within, struct.id]);
  return {
    type: 'object',
    properties: Object.fromEntries(
      Array.from(struct.fields.values(), ({ name, type }) => [name, schemaOf(type, inside)]),
    ),
  };
};

/** A built-in type as the schema that expressions are checked against. */
export const structuralSchemaOf = (struct: StructType): StructuralSchema => structSchema(struct, new Set());
