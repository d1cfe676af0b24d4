/**
 * How one field is declared. `Out` is what decoding gives, `In` what encoding takes; both exist only for the
 * type checker.
 */
export interface Field<Out = unknown, In = Out> {
  readonly number: number;
  readonly type: FieldType;
  readonly label: 'single' | 'optional' | 'repeated';
  /** At most one field of a oneof is set; they are `optional`, and a later one on the wire clears the previous. */
  readonly oneof?: string;
  /** Late, so that messages may contain themselves. */
  readonly message?: () => MessageType<unknown, never>;
  /** Of an enum: its names, which JSON spells out. */
  readonly values?: EnumValues;
  readonly phantom?: { readonly out: Out; readonly in: In };
}

export type EnumValues = Readonly<Record<string, number>>;

/**
 * `int64` and `uint64` are bigint: lease, member and watch ids use all 64 bits. `int64Number` and
 * `uint64Number` are the same on the wire and a number here, held at 2^53-1: revisions, versions, terms, sizes.
 */
export type FieldType =
  | 'bytes'
  | 'string'
  | 'bool'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'int64Number'
  | 'uint64Number'
  | 'message';

export type Fields = Readonly<Record<string, Field>>;

/** A message and its codec. Absent fields take proto3's defaults; absent messages and oneof fields stay undefined. */
export interface MessageType<Out, In = Out> {
  readonly name: string;
  readonly fields: Fields;
  /** Throws MalformedError. Byte fields of the result are views of `bytes`: copy what is kept. */
  decode(bytes: Uint8Array): Out;
  /** One buffer of exactly `headroomBytes` unset bytes, then the message. */
  encode(value: In, headroomBytes?: number): Buffer;
  /** The value as decoding `encode(value)` would give it. */
  create(value: In): Out;
}

/** A nested message may be given as bytes that are encoded already: what many receive is encoded once. */
export type Encoded = Uint8Array;

export type OutOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer Out, infer _In> ? Out : never;
};
export type InOf<F extends Fields> = {
  readonly [K in keyof F]?: (F[K] extends Field<infer _Out, infer In> ? In : never) | undefined;
};

const scalar =
  <T>(type: FieldType) =>
  (number: number): Field<T, T> => ({ number, type, label: 'single' });

export const bytes = scalar<Uint8Array>('bytes');
export const string = scalar<string>('string');
export const bool = scalar<boolean>('bool');
export const int32 = scalar<number>('int32');
export const uint32 = scalar<number>('uint32');
export const int64 = scalar<bigint>('int64');
export const uint64 = scalar<bigint>('uint64');
export const int64Number = scalar<number>('int64Number');
export const uint64Number = scalar<number>('uint64Number');

/** An enum is open in proto3: unknown numbers arrive, and anyone who reads them decides. */
export const enumeration = <T extends number>(
  number: number,
  values: Readonly<Record<string, T>>,
): Field<T | UnknownEnum, T | UnknownEnum> => ({ number, type: 'int32', label: 'single', values });
/** Keeps `T` visible in completions while every number stays assignable. */
export type UnknownEnum = number & {};

export const nested = <Out, In>(
  number: number,
  message: () => MessageType<Out, In>,
): Field<Out | undefined, In | Encoded> => ({ number, type: 'message', label: 'single', message });

export const repeated = <Out, In>(
  field: Field<Out, In>,
): Field<readonly Exclude<Out, undefined>[], readonly In[]> => ({
  ...withoutPhantom(field),
  label: 'repeated',
});

/** A field of a oneof: undefined unless it is the one that is set. */
export const oneof = <Out, In>(name: string, field: Field<Out, In>): Field<Out | undefined, In> => ({
  ...withoutPhantom(field),
  label: 'optional',
  oneof: name,
});

const withoutPhantom = ({ number, type, message, values }: Field) => ({
  number,
  type,
  ...(message && { message }),
  ...(values && { values }),
});
