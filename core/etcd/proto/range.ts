import { KeyValue } from './kv.ts';
import {
  bool,
  bytes,
  enumeration,
  int64,
  int64Number,
  message,
  nested,
  repeated,
  uint64,
  uint64Number,
} from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

/** In front of every response. */
export const ResponseHeader = message('etcdserverpb.ResponseHeader', {
  clusterId: uint64(1),
  memberId: uint64(2),
  revision: int64Number(3),
  raftTerm: uint64Number(4),
});
export type ResponseHeader = MessageOut<typeof ResponseHeader>;
export type ResponseHeaderIn = MessageIn<typeof ResponseHeader>;

export const SORT_ORDER = { NONE: 0, ASCEND: 1, DESCEND: 2 } as const;
export type SortOrder = (typeof SORT_ORDER)[keyof typeof SORT_ORDER];
export const SORT_TARGET = { KEY: 0, VERSION: 1, CREATE: 2, MOD: 3, VALUE: 4 } as const;
export type SortTarget = (typeof SORT_TARGET)[keyof typeof SORT_TARGET];

export const RangeRequest = message('etcdserverpb.RangeRequest', {
  key: bytes(1),
  rangeEnd: bytes(2),
  limit: int64Number(3),
  revision: int64Number(4),
  sortOrder: enumeration<SortOrder>(5, SORT_ORDER),
  sortTarget: enumeration<SortTarget>(6, SORT_TARGET),
  serializable: bool(7),
  keysOnly: bool(8),
  countOnly: bool(9),
  minModRevision: int64Number(10),
  maxModRevision: int64Number(11),
  minCreateRevision: int64Number(12),
  maxCreateRevision: int64Number(13),
});
export type RangeRequest = MessageOut<typeof RangeRequest>;
export type RangeRequestIn = MessageIn<typeof RangeRequest>;

export const RangeResponse = message('etcdserverpb.RangeResponse', {
  header: nested(1, () => ResponseHeader),
  kvs: repeated(nested(2, () => KeyValue)),
  more: bool(3),
  count: int64Number(4),
});
export type RangeResponse = MessageOut<typeof RangeResponse>;
export type RangeResponseIn = MessageIn<typeof RangeResponse>;

export const PutRequest = message('etcdserverpb.PutRequest', {
  key: bytes(1),
  value: bytes(2),
  lease: int64(3),
  prevKv: bool(4),
  ignoreValue: bool(5),
  ignoreLease: bool(6),
});
export type PutRequest = MessageOut<typeof PutRequest>;
export type PutRequestIn = MessageIn<typeof PutRequest>;

export const PutResponse = message('etcdserverpb.PutResponse', {
  header: nested(1, () => ResponseHeader),
  prevKv: nested(2, () => KeyValue),
});
export type PutResponse = MessageOut<typeof PutResponse>;
export type PutResponseIn = MessageIn<typeof PutResponse>;

export const DeleteRangeRequest = message('etcdserverpb.DeleteRangeRequest', {
  key: bytes(1),
  rangeEnd: bytes(2),
  prevKv: bool(3),
});
export type DeleteRangeRequest = MessageOut<typeof DeleteRangeRequest>;
export type DeleteRangeRequestIn = MessageIn<typeof DeleteRangeRequest>;

export const DeleteRangeResponse = message('etcdserverpb.DeleteRangeResponse', {
  header: nested(1, () => ResponseHeader),
  deleted: int64Number(2),
  prevKvs: repeated(nested(3, () => KeyValue)),
});
export type DeleteRangeResponse = MessageOut<typeof DeleteRangeResponse>;
export type DeleteRangeResponseIn = MessageIn<typeof DeleteRangeResponse>;

export const CompactionRequest = message('etcdserverpb.CompactionRequest', {
  revision: int64Number(1),
  physical: bool(2),
});
export type CompactionRequest = MessageOut<typeof CompactionRequest>;
export type CompactionRequestIn = MessageIn<typeof CompactionRequest>;

export const CompactionResponse = message('etcdserverpb.CompactionResponse', {
  header: nested(1, () => ResponseHeader),
});
export type CompactionResponse = MessageOut<typeof CompactionResponse>;
export type CompactionResponseIn = MessageIn<typeof CompactionResponse>;
