import { unreachable } from '../../base/assert.ts';
import { GO_TYPES } from './facts/go-types.ts';
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

interface GoFields {
  readonly types: ReadonlyMap<string, string>;
  /** The structs that a field is embedded with, outermost first. */
  readonly embedded: ReadonlyMap<string, string>;
}

const NO_FIELDS: GoFields = { types: new Map(), embedded: new Map() };
let goFields: ReadonlyMap<string, GoFields> | undefined;

const readGoFields = (fields: string): GoFields => {
  const types = new Map<string, string>();
  const embedded = new Map<string, string>();
  for (const one of fields.split(',')) {
    const [structs = '', names] = one.split('>');
    if (names !== undefined) for (const name of names.split('+')) embedded.set(name, structs);
    else types.set(one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1));
  }
  return { types, embedded };
};

/** Read when the first error asks for it. */
const goFieldsOf = ({ id }: StructType): GoFields => {
  goFields ??= new Map(
    GO_TYPES.trim()
      .split('\n')
      .map((line) => {
        const [type = '', fields = ''] = line.split('|');
        return [type, readGoFields(fields)] as const;
      }),
  );
  return goFields.get(id) ?? NO_FIELDS;
};

const insideOf = (text: string): string | undefined => /^(?:\[\]|map\[[^\]]*\])\*?(.*)$/.exec(text)?.[1];

/** The name of `type`, which is the type of a field or stands in its lists and maps. */
export const fieldTypeName = (owner: StructType, name: string, type: TypeNode): string => {
  let node = owner.fields.get(name)?.type;
  let text = goFieldsOf(owner).types.get(name);
  while (node !== undefined && node !== type && text !== undefined) {
    node = node.node === 'list' ? node.items : node.node === 'map' ? node.values : undefined;
    text = insideOf(text);
  }
  return node === type && text !== undefined ? text : typeName(type);
};

const structIn = (type: TypeNode | undefined): StructType | undefined => {
  if (type?.node === 'list') return structIn(type.items);
  if (type?.node === 'map') return structIn(type.values);
  return type?.node === 'struct' ? type.struct : undefined;
};

/** A path of fields as Go's decoder tells it: with the embedded structs that it goes through. */
export const goFieldPath = (root: StructType, names: readonly string[]): string => {
  let struct: StructType | undefined = root;
  const path: string[] = [];
  for (const name of names) {
    const embedded = struct && goFieldsOf(struct).embedded.get(name);
    if (embedded !== undefined) path.push(embedded);
    path.push(name);
    struct = structIn(struct?.fields.get(name)?.type);
  }
  return path.join('.');
};

export const valueName = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'string' || typeof value === 'number' ? typeof value : 'object';
};
