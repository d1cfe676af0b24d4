import * as v from 'valibot';
import { said } from './sentences/said.ts';

/** Names one call or stream on one connection; counted by the client, never used twice. */
const id = v.pipe(v.number(), v.integer(), v.minValue(1));

export const failureReason = v.picklist([
  'BadRequest', // the message or its input does not fit the contract
  'Forbidden', // this sender may not ask that
  'ConsentRequired', // the person has to agree first: to a program that a kubeconfig runs
  'NotFound',
  'Conflict',
  'Cancelled', // the user changed their mind, or the connection closed
  'Unavailable', // cannot be answered now; trying again may help
  'Unimplemented', // this host does not offer it
  'Internal', // a defect on the host side
]);
export type FailureReason = v.InferOutput<typeof failureReason>;

/** `message` is English; `said`, where there is one, is the same in the reader's language. */
const failure = v.object({ reason: failureReason, message: v.string(), said: v.optional(said) });
export type Failure = v.InferOutput<typeof failure>;

/**
 * What a console sends. An input of `undefined` is absent on a JSON wire, so `input` (and `value` below) may be
 * missing; the shape of the call decides whether that fits. `hello` starts a
 * connection again: whatever an earlier page left open is closed.
 */
export const clientMessage = v.variant('kind', [
  v.object({ kind: v.literal('hello') }),
  v.object({
    kind: v.literal('call'),
    id,
    name: v.pipe(v.string(), v.maxLength(128)),
    input: v.optional(v.unknown()),
  }),
  v.object({
    kind: v.literal('open'),
    id,
    name: v.pipe(v.string(), v.maxLength(128)),
    input: v.optional(v.unknown()),
  }),
  /** The console has consumed one batch of the stream: one more may be sent. */
  v.object({ kind: v.literal('credit'), id }),
  v.object({ kind: v.literal('close'), id }),
]);
export type ClientMessage = v.InferOutput<typeof clientMessage>;

export const hostMessage = v.variant('kind', [
  v.object({ kind: v.literal('result'), id, value: v.optional(v.unknown()) }),
  v.object({ kind: v.literal('failure'), id, failure }),
  v.object({ kind: v.literal('batch'), id, items: v.array(v.unknown()) }),
  v.object({ kind: v.literal('end'), id, failure: v.optional(failure) }),
]);
export type HostMessage = v.InferOutput<typeof hostMessage>;

/** Batches that may be on their way to a console that has not yet consumed them. */
export const STREAM_BATCHES_IN_FLIGHT_MAX = 4;
export const STREAMS_PER_CONNECTION_MAX = 256;
export const CALLS_IN_FLIGHT_PER_CONNECTION_MAX = 256;
