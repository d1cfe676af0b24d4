import { typeNodeOf } from '../../../api/patch/schema-types.ts';
import { UNTYPED, type TypeNode } from '../../../api/patch/type-node.ts';
import { structOf } from '../../../api/schema/index.ts';
import type { Structural } from './structural.ts';

const SCALAR: TypeNode = { kind: 'scalar' };

const SCALARS: Readonly<Record<string, TypeNode['scalar']>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'numeric',
  number: 'numeric',
};

const nodes = new WeakMap<Structural, TypeNode>();

const metaFields = (): ReadonlyMap<string, TypeNode> =>
  new Map([
    ['apiVersion', SCALAR],
    ['kind', SCALAR],
    ['metadata', typeNodeOf(structOf('meta.v1.ObjectMeta'))],
  ]);

const make = (schema: Structural, isResource: boolean): TypeNode => {
  const common = { mapType: schema.mapType, default: schema.default };
  if (schema.type === 'array')
    return {
      kind: 'list',
      items: schema.items ? typeNode(schema.items) : UNTYPED,
      listType: schema.listType,
      listMapKeys: schema.listMapKeys.length > 0 ? schema.listMapKeys : undefined,
      default: schema.default,
    };
  if (schema.type !== 'object' && !isResource)
    return schema.type === '' && !schema.isIntOrString
      ? UNTYPED
      : { ...SCALAR, scalar: SCALARS[schema.type], default: schema.default };
  if (schema.properties.size > 0 || isResource || schema.isEmbedded) {
    const meta = isResource || schema.isEmbedded ? metaFields() : undefined;
    return {
      ...common,
      kind: 'struct',
      field(name) {
        const own = meta?.get(name);
        if (own) return own;
        const property = schema.properties.get(name);
        if (property) return typeNode(property);
        return schema.preservesUnknown ? UNTYPED : undefined;
      },
    };
  }
  if (schema.values) return { ...common, kind: 'map', values: typeNode(schema.values) };
  return { ...UNTYPED, ...common };
};

const typeNode = (schema: Structural): TypeNode => {
  const known = nodes.get(schema);
  if (known) return known;
  const node = make(schema, false);
  nodes.set(schema, node);
  return node;
};

/** What patches and server-side apply see of a custom resource. */
export const resourceTypeNode = (schema: Structural): TypeNode => make(schema, true);
