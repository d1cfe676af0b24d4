import {
  DeleteRangeRequest,
  DeleteRangeResponse,
  PutRequest,
  PutResponse,
  RangeRequest,
  RangeResponse,
  ResponseHeader,
} from './range.ts';
import type {
  DeleteRangeRequestIn,
  DeleteRangeResponseIn,
  PutRequestIn,
  PutResponseIn,
  RangeRequestIn,
  RangeResponseIn,
  ResponseHeaderIn,
} from './range.ts';
import { bool, bytes, enumeration, int64, int64Number, message, nested } from './wire/index.ts';
import { oneof, recursiveMessage, repeated } from './wire/index.ts';
import type { Encoded, MessageIn, MessageOut, MessageType } from './wire/index.ts';

export const COMPARE_RESULT = { EQUAL: 0, GREATER: 1, LESS: 2, NOT_EQUAL: 3 } as const;
export type CompareResult = (typeof COMPARE_RESULT)[keyof typeof COMPARE_RESULT];
export const COMPARE_TARGET = { VERSION: 0, CREATE: 1, MOD: 2, VALUE: 3, LEASE: 4 } as const;
export type CompareTarget = (typeof COMPARE_TARGET)[keyof typeof COMPARE_TARGET];

export const Compare = message('etcdserverpb.Compare', {
  result: enumeration<CompareResult>(1, COMPARE_RESULT),
  target: enumeration<CompareTarget>(2, COMPARE_TARGET),
  key: bytes(3),
  version: oneof('targetUnion', int64Number(4)),
  createRevision: oneof('targetUnion', int64Number(5)),
  modRevision: oneof('targetUnion', int64Number(6)),
  value: oneof('targetUnion', bytes(7)),
  lease: oneof('targetUnion', int64(8)),
  rangeEnd: bytes(64),
});
export type Compare = MessageOut<typeof Compare>;
export type CompareIn = MessageIn<typeof Compare>;

/** Exactly one is set in a sound request; none is set in an empty one. */
export interface RequestOp {
  readonly requestRange: RangeRequest | undefined;
  readonly requestPut: PutRequest | undefined;
  readonly requestDeleteRange: DeleteRangeRequest | undefined;
  readonly requestTxn: TxnRequest | undefined;
}
export interface RequestOpIn {
  readonly requestRange?: RangeRequestIn | Encoded | undefined;
  readonly requestPut?: PutRequestIn | Encoded | undefined;
  readonly requestDeleteRange?: DeleteRangeRequestIn | Encoded | undefined;
  readonly requestTxn?: TxnRequestIn | Encoded | undefined;
}
export const RequestOp: MessageType<RequestOp, RequestOpIn> = recursiveMessage('etcdserverpb.RequestOp', {
  requestRange: oneof(
    'request',
    nested(1, () => RangeRequest),
  ),
  requestPut: oneof(
    'request',
    nested(2, () => PutRequest),
  ),
  requestDeleteRange: oneof(
    'request',
    nested(3, () => DeleteRangeRequest),
  ),
  requestTxn: oneof(
    'request',
    nested(4, () => TxnRequest),
  ),
});

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}
export interface TxnRequestIn {
  readonly compare?: readonly (CompareIn | Encoded)[] | undefined;
  readonly success?: readonly (RequestOpIn | Encoded)[] | undefined;
  readonly failure?: readonly (RequestOpIn | Encoded)[] | undefined;
}
export const TxnRequest: MessageType<TxnRequest, TxnRequestIn> = recursiveMessage('etcdserverpb.TxnRequest', {
  compare: repeated(nested(1, () => Compare)),
  success: repeated(nested(2, () => RequestOp)),
  failure: repeated(nested(3, () => RequestOp)),
});

export interface ResponseOp {
  readonly responseRange: RangeResponse | undefined;
  readonly responsePut: PutResponse | undefined;
  readonly responseDeleteRange: DeleteRangeResponse | undefined;
  readonly responseTxn: TxnResponse | undefined;
}
export interface ResponseOpIn {
  readonly responseRange?: RangeResponseIn | Encoded | undefined;
  readonly responsePut?: PutResponseIn | Encoded | undefined;
  readonly responseDeleteRange?: DeleteRangeResponseIn | Encoded | undefined;
  readonly responseTxn?: TxnResponseIn | Encoded | undefined;
}
export const ResponseOp: MessageType<ResponseOp, ResponseOpIn> = recursiveMessage('etcdserverpb.ResponseOp', {
  responseRange: oneof(
    'response',
    nested(1, () => RangeResponse),
  ),
  responsePut: oneof(
    'response',
    nested(2, () => PutResponse),
  ),
  responseDeleteRange: oneof(
    'response',
    nested(3, () => DeleteRangeResponse),
  ),
  responseTxn: oneof(
    'response',
    nested(4, () => TxnResponse),
  ),
});

export interface TxnResponse {
  readonly header: ResponseHeader | undefined;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}
export interface TxnResponseIn {
  readonly header?: ResponseHeaderIn | Encoded | undefined;
  readonly succeeded?: boolean | undefined;
  readonly responses?: readonly (ResponseOpIn | Encoded)[] | undefined;
}
export const TxnResponse: MessageType<TxnResponse, TxnResponseIn> = recursiveMessage(
  'etcdserverpb.TxnResponse',
  {
    header: nested(1, () => ResponseHeader),
    succeeded: bool(2),
    responses: repeated(nested(3, () => ResponseOp)),
  },
);
