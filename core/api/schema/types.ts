/** The type of a value as patching, applying, pruning and decoding see it. */
export type Scalar =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'double'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString';

/**
 * Values whose inside the schema does not describe: `any` is any JSON, `object` an embedded object; the others
 * are the unions that only JSON schemas themselves use.
 */
export type Opaque = 'any' | 'object' | 'schemaOrBool' | 'schemaOrArray' | 'schemaOrStrings';

export type ListType = 'atomic' | 'set' | 'map';
export type MapType = 'granular' | 'atomic';
export type PatchStrategy = 'merge' | 'replace' | 'retainKeys';

export interface ScalarNode {
  readonly node: 'scalar';
  readonly scalar: Scalar;
}
export interface OpaqueNode {
  readonly node: 'opaque';
  readonly opaque: Opaque;
}
export interface ListNode {
  readonly node: 'list';
  readonly items: TypeNode;
}
export interface MapNode {
  readonly node: 'map';
  readonly values: TypeNode;
}
/** `struct` is looked up when asked for: types refer to each other in circles. */
export interface StructNode {
  readonly node: 'struct';
  readonly struct: StructType;
}
export type TypeNode = ScalarNode | OpaqueNode | ListNode | MapNode | StructNode;

export interface FieldType {
  readonly name: string;
  readonly type: TypeNode;
  /** The field is written even when empty. */
  readonly required: boolean;
  /** A struct that is held by value: it is written as `{}` when nothing is in it. */
  readonly byValue: boolean;
  /** Whether a required scalar has no zero value to write. */
  readonly isPointer: boolean;
  /** Written when it is absent, too. */
  readonly isAlwaysWritten?: boolean;
  /** How a list merges when applied; a list without it is atomic. */
  readonly listType?: ListType;
  readonly listMapKeys?: readonly string[];
  /** How a map or struct merges when applied; without it the type's own, else granular. */
  readonly mapType?: MapType;
  /** For strategic merge patches. */
  readonly patchStrategy?: readonly PatchStrategy[];
  readonly patchMergeKey?: string;
  /** The static default, if it is not the zero value of a required field. */
  readonly default?: string | number | boolean;
}

export interface StructType {
  /** `core.v1.Pod`: package, version and kind; custom resources use group, version and path. */
  readonly id: string;
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly mapType?: MapType;
  /** Unknown fields are kept (custom resources that say so). */
  readonly preservesUnknown?: boolean;
}
