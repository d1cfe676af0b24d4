import { REQUEST_BYTES_MAX } from '../bounds.ts';
import type { EstimateSize } from '../cost/nodes.ts';
import type { Variable } from '../environment.ts';
import { type Type, optionalOf } from '../types/type.ts';
import { CelOptional } from '../values/value.ts';
import { converterOf } from './convert.ts';
import { type Declared, declare, sizeAt, structsOf } from './declaration.ts';
import { type StructuralSchema, withTypeAndObjectMeta } from './structural.ts';

export interface SchemaTypeOptions {
  /** The name of the root type in error texts; nested types are named after it. */
  readonly name?: string;
  /** Whether the schema describes a resource as a whole, which has a kind and a name in any case. */
  readonly isResourceRoot?: boolean;
}

/** The type of a schema as a variable, with what its bounds say about costs. */
export interface SchemaType extends Variable {
  readonly type: Type;
  readonly estimateSize: EstimateSize;
  /** How often data of this schema fits into a request. */
  readonly maxCardinality: bigint;
  /** The same type where a value may be missing, such as that of `oldSelf`. Give undefined as null. */
  readonly optional: () => Variable;
}

const DEFAULT_NAME = 'selfType';

/** The type that expressions see for a structural schema; undefined if they see nothing of it. */
export const schemaType = (
  schema: StructuralSchema,
  { name = DEFAULT_NAME, isResourceRoot = false }: SchemaTypeOptions = {},
): SchemaType | undefined => {
  const root: Declared | undefined = declare(schema, name, isResourceRoot);
  if (root === undefined) return undefined;
  const declarations = structsOf(root);
  const structs: SchemaType['structs'] = (wanted) => declarations.get(wanted);
  const convert = converterOf(isResourceRoot ? withTypeAndObjectMeta(schema) : schema);
  return {
    type: root.type,
    convert,
    structs,
    estimateSize: (path) => sizeAt(root, path),
    maxCardinality: BigInt(Math.floor(REQUEST_BYTES_MAX / (root.minBytes + 1))),
    optional: () => ({
      type: optionalOf(root.type),
      convert: (raw) => (raw === null ? CelOptional.none : CelOptional.of(convert(raw))),
      structs,
    }),
  };
};
