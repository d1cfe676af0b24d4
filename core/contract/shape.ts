import type * as v from 'valibot';

/** A schema without transformations: what is sent is what arrives. */
export type Schema<T = unknown> = v.GenericSchema<T>;
export type TypeOf<S> = S extends v.GenericSchema<infer T> ? T : never;

/** One question, one answer. */
export interface CallShape<Input = unknown, Output = unknown> {
  readonly kind: 'call';
  readonly input: Schema<Input>;
  readonly output: Schema<Output>;
}

/** One question, batches of items until either side ends it. */
export interface StreamShape<Input = unknown, Item = unknown> {
  readonly kind: 'stream';
  readonly input: Schema<Input>;
  readonly item: Schema<Item>;
  /** No batch on the wire carries more items than this. */
  readonly batchItemsMax: number;
}

export type Shape = CallShape | StreamShape;

export const call = <I, O>(shape: { input: Schema<I>; output: Schema<O> }): CallShape<I, O> => ({
  kind: 'call',
  ...shape,
});

export const stream = <I, T>(shape: {
  input: Schema<I>;
  item: Schema<T>;
  batchItemsMax: number;
}): StreamShape<I, T> => ({ kind: 'stream', ...shape });
