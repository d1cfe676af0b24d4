import { Event } from './kv.ts';
import { ResponseHeader } from './range.ts';
import {
  bool,
  bytes,
  enumeration,
  int64,
  int64Number,
  message,
  nested,
  oneof,
  repeated,
  string,
} from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

export const FILTER_TYPE = { NOPUT: 0, NODELETE: 1 } as const;
export type FilterType = (typeof FILTER_TYPE)[keyof typeof FILTER_TYPE];

export const WatchCreateRequest = message('etcdserverpb.WatchCreateRequest', {
  key: bytes(1),
  rangeEnd: bytes(2),
  startRevision: int64Number(3),
  progressNotify: bool(4),
  filters: repeated(enumeration<FilterType>(5, FILTER_TYPE)),
  prevKv: bool(6),
  watchId: int64(7),
  fragment: bool(8),
});
export type WatchCreateRequest = MessageOut<typeof WatchCreateRequest>;
export type WatchCreateRequestIn = MessageIn<typeof WatchCreateRequest>;

export const WatchCancelRequest = message('etcdserverpb.WatchCancelRequest', {
  watchId: int64(1),
});
export type WatchCancelRequest = MessageOut<typeof WatchCancelRequest>;
export type WatchCancelRequestIn = MessageIn<typeof WatchCancelRequest>;

export const WatchProgressRequest = message('etcdserverpb.WatchProgressRequest', {});
export type WatchProgressRequest = MessageOut<typeof WatchProgressRequest>;
export type WatchProgressRequestIn = MessageIn<typeof WatchProgressRequest>;

export const WatchRequest = message('etcdserverpb.WatchRequest', {
  createRequest: oneof(
    'requestUnion',
    nested(1, () => WatchCreateRequest),
  ),
  cancelRequest: oneof(
    'requestUnion',
    nested(2, () => WatchCancelRequest),
  ),
  progressRequest: oneof(
    'requestUnion',
    nested(3, () => WatchProgressRequest),
  ),
});
export type WatchRequest = MessageOut<typeof WatchRequest>;
export type WatchRequestIn = MessageIn<typeof WatchRequest>;

export const WatchResponse = message('etcdserverpb.WatchResponse', {
  header: nested(1, () => ResponseHeader),
  watchId: int64(2),
  created: bool(3),
  canceled: bool(4),
  compactRevision: int64Number(5),
  cancelReason: string(6),
  fragment: bool(7),
  events: repeated(nested(11, () => Event)),
});
export type WatchResponse = MessageOut<typeof WatchResponse>;
export type WatchResponseIn = MessageIn<typeof WatchResponse>;
