/**
 * What patches and server-side apply need to know about a type. A structural interface, so that the schema
 * graph of built-in kinds and the schemas of custom resources can both stand behind it. Graphs may be cyclic.
 */
export interface TypeNode {
  /** `untyped` is a place where anything may stand, such as a RawExtension. */
  readonly kind: 'struct' | 'map' | 'list' | 'scalar' | 'untyped';
  /** Of a scalar: what it must be, where configurations are held against it; absent where decoding does that. */
  readonly scalar?: 'string' | 'numeric' | 'boolean' | undefined;
  /** The field of a struct; undefined where the type has no such field. */
  field?(name: string): TypeNode | undefined;
  /** The values of a map. */
  readonly values?: TypeNode | undefined;
  /** The items of a list. */
  readonly items?: TypeNode | undefined;
  /** Absent means atomic. */
  readonly listType?: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys?: readonly string[] | undefined;
  /** Of structs and maps; absent means granular. */
  readonly mapType?: 'atomic' | 'granular' | undefined;
  /** `merge`, `replace`, `retainKeys`, or two of them with a comma. */
  readonly patchStrategy?: string | undefined;
  readonly patchMergeKey?: string | undefined;
  /** The value an absent field stands for; needed where the field is a key of a list, as protocol is. */
  readonly default?: unknown;
}

export const UNTYPED: TypeNode = { kind: 'untyped' };

/** The type below a struct, a map or an untyped value; undefined for a field that the struct does not have. */
export function fieldOf(node: TypeNode, name: string): TypeNode | undefined {
  switch (node.kind) {
    case 'struct':
      return node.field?.(name);
    case 'map':
      return node.values ?? UNTYPED;
    case 'untyped':
      return UNTYPED;
    case 'list':
    case 'scalar':
      return undefined;
  }
}
