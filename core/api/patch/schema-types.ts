import type { FieldType, StructType, TypeNode as SchemaNode } from '../schema/types.ts';
import type { TypeNode } from './type-node.ts';
import { UNTYPED } from './type-node.ts';

/** Stands the schema graph of the API behind the view that patches and apply have of types. */

/** Anything may stand there, and anyone who sets it owns all of it. */
const OPAQUE: TypeNode = { kind: 'untyped', mapType: 'atomic' };

const nodes = new WeakMap<StructType, TypeNode>();
const fields = new WeakMap<FieldType, TypeNode>();

/** The type of an object, made once per struct and filled in as its fields are asked for. */
export function typeNodeOf(struct: StructType): TypeNode {
  const known = nodes.get(struct);
  if (known !== undefined) return known;
  const node: TypeNode = {
    kind: 'struct',
    mapType: struct.mapType,
    field: (name) => {
      const field = struct.fields.get(name);
      if (field !== undefined) return fieldNode(field);
      return struct.preservesUnknown === true ? UNTYPED : undefined;
    },
  };
  nodes.set(struct, node);
  return node;
}

function fieldNode(field: FieldType): TypeNode {
  const known = fields.get(field);
  if (known !== undefined) return known;
  const bare = nodeOf(field.type);
  const node: TypeNode = {
    ...bare,
    listType: field.listType,
    listMapKeys: field.listMapKeys,
    mapType: field.mapType ?? bare.mapType,
    patchStrategy: field.patchStrategy?.join(','),
    patchMergeKey: field.patchMergeKey,
    default: field.default,
  };
  fields.set(field, node);
  return node;
}

function nodeOf(type: SchemaNode): TypeNode {
  switch (type.node) {
    case 'scalar':
      return { kind: 'scalar' };
    case 'opaque':
      return OPAQUE;
    case 'list':
      return { kind: 'list', items: nodeOf(type.items) };
    case 'map':
      return { kind: 'map', values: nodeOf(type.values) };
    case 'struct':
      return typeNodeOf(type.struct);
  }
}
