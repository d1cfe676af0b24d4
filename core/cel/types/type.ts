export type TypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'type'
  | 'param';

/** A CEL type. `name` is what `type(x)` is printed as; parameters are element, key, value or wrapped types. */
export interface Type {
  readonly kind: TypeKind;
  readonly name: string;
  readonly parameters: readonly Type[];
  /** Names in the printed type. A type that uses another twice shares it, so this can exceed what was written by far. */
  readonly size: number;
  /** Whether it contains type parameters; one without is its own substitution. */
  readonly isOpen: boolean;
}

const NONE: readonly Type[] = [];
const simple = (kind: TypeKind, name: string): Type => ({
  kind,
  name,
  parameters: NONE,
  size: 1,
  isOpen: kind === 'param',
});
const composite = (kind: TypeKind, name: string, parameters: readonly Type[]): Type => {
  let size = 1;
  let isOpen = false;
  for (const parameter of parameters) {
    size += parameter.size;
    isOpen ||= parameter.isOpen;
  }
  return { kind, name, parameters, size, isOpen };
};

export const DYN = simple('dyn', 'dyn');
export const ERROR = simple('error', 'error');
export const NULL = simple('null', 'null_type');
export const BOOL = simple('bool', 'bool');
export const INT = simple('int', 'int');
export const UINT = simple('uint', 'uint');
export const DOUBLE = simple('double', 'double');
export const STRING = simple('string', 'string');
export const BYTES = simple('bytes', 'bytes');
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp');
export const DURATION = simple('duration', 'google.protobuf.Duration');
export const TYPE = simple('type', 'type');

export const listOf = (element: Type): Type => composite('list', 'list', [element]);
export const mapOf = (key: Type, value: Type): Type => composite('map', 'map', [key, value]);
export const structOf = (name: string): Type => simple('struct', name);
export const opaqueOf = (name: string, ...parameters: Type[]): Type => composite('opaque', name, parameters);
export const typeOfType = (of: Type): Type => composite('type', 'type', [of]);
export const param = (name: string): Type => simple('param', name);

const OPTIONAL_NAME = 'optional_type';
export const optionalOf = (wrapped: Type): Type => opaqueOf(OPTIONAL_NAME, wrapped);
export const isOptional = (type: Type): boolean => type.kind === 'opaque' && type.name === OPTIONAL_NAME;

export const LIST = listOf(DYN);
export const MAP = mapOf(DYN, DYN);
export const OPTIONAL = opaqueOf(OPTIONAL_NAME);

export const isDyn = (type: Type): boolean => type.kind === 'dyn';
export const isDynOrError = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'error';

const sameType = (a: Type, b: Type, paramNames: boolean): boolean => {
  if (a === b) return true;
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if ((paramNames || a.kind !== 'param') && a.name !== b.name) return false;
  return a.parameters.every((parameter, at) => sameType(parameter, b.parameters[at]!, paramNames));
};

export const isExactType = (a: Type, b: Type): boolean => sameType(a, b, true);
export const isEquivalentType = (a: Type, b: Type): boolean => sameType(a, b, false);

/** The type as error texts name it. */
export const formatType = (type: Type): string => {
  switch (type.kind as string) {
    case 'timestamp':
    case 'duration':
    case 'null':
      return type.kind;
    case 'error':
      return '!error!';
    default:
      return type.parameters.length === 0
        ? type.name
        : `${type.name}(${type.parameters.map(formatType).join(', ')})`;
  }
};

/** `(int, string)`, or `string.(int)` for a call on a receiver. */
export const formatSignature = (argumentTypes: readonly Type[], isMember: boolean): string => {
  const [target, ...rest] = argumentTypes;
  return isMember
    ? `${formatType(target!)}.(${rest.map(formatType).join(', ')})`
    : `(${argumentTypes.map(formatType).join(', ')})`;
};
