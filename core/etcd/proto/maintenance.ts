import { ResponseHeader } from './range.ts';
import {
  bool,
  bytes,
  enumeration,
  int64Number,
  message,
  nested,
  repeated,
  string,
  uint32,
  uint64,
  uint64Number,
} from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

export const ALARM_TYPE = { NONE: 0, NOSPACE: 1, CORRUPT: 2 } as const;
export type AlarmType = (typeof ALARM_TYPE)[keyof typeof ALARM_TYPE];
export const ALARM_ACTION = { GET: 0, ACTIVATE: 1, DEACTIVATE: 2 } as const;
export type AlarmAction = (typeof ALARM_ACTION)[keyof typeof ALARM_ACTION];
export const DOWNGRADE_ACTION = { VALIDATE: 0, ENABLE: 1, CANCEL: 2 } as const;
export type DowngradeAction = (typeof DOWNGRADE_ACTION)[keyof typeof DOWNGRADE_ACTION];

export const AlarmRequest = message('etcdserverpb.AlarmRequest', {
  action: enumeration<AlarmAction>(1, ALARM_ACTION),
  memberID: uint64(2),
  alarm: enumeration<AlarmType>(3, ALARM_TYPE),
});
export type AlarmRequest = MessageOut<typeof AlarmRequest>;
export type AlarmRequestIn = MessageIn<typeof AlarmRequest>;

export const AlarmMember = message('etcdserverpb.AlarmMember', {
  memberID: uint64(1),
  alarm: enumeration<AlarmType>(2, ALARM_TYPE),
});
export type AlarmMember = MessageOut<typeof AlarmMember>;
export type AlarmMemberIn = MessageIn<typeof AlarmMember>;

export const AlarmResponse = message('etcdserverpb.AlarmResponse', {
  header: nested(1, () => ResponseHeader),
  alarms: repeated(nested(2, () => AlarmMember)),
});
export type AlarmResponse = MessageOut<typeof AlarmResponse>;
export type AlarmResponseIn = MessageIn<typeof AlarmResponse>;

export const DowngradeRequest = message('etcdserverpb.DowngradeRequest', {
  action: enumeration<DowngradeAction>(1, DOWNGRADE_ACTION),
  version: string(2),
});
export type DowngradeRequest = MessageOut<typeof DowngradeRequest>;
export type DowngradeRequestIn = MessageIn<typeof DowngradeRequest>;

export const DowngradeResponse = message('etcdserverpb.DowngradeResponse', {
  header: nested(1, () => ResponseHeader),
  version: string(2),
});
export type DowngradeResponse = MessageOut<typeof DowngradeResponse>;
export type DowngradeResponseIn = MessageIn<typeof DowngradeResponse>;

export const DowngradeInfo = message('etcdserverpb.DowngradeInfo', {
  enabled: bool(1),
  targetVersion: string(2),
});
export type DowngradeInfo = MessageOut<typeof DowngradeInfo>;
export type DowngradeInfoIn = MessageIn<typeof DowngradeInfo>;

export const StatusRequest = message('etcdserverpb.StatusRequest', {});
export type StatusRequest = MessageOut<typeof StatusRequest>;
export type StatusRequestIn = MessageIn<typeof StatusRequest>;

export const StatusResponse = message('etcdserverpb.StatusResponse', {
  header: nested(1, () => ResponseHeader),
  version: string(2),
  dbSize: int64Number(3),
  leader: uint64(4),
  raftIndex: uint64Number(5),
  raftTerm: uint64Number(6),
  raftAppliedIndex: uint64Number(7),
  errors: repeated(string(8)),
  dbSizeInUse: int64Number(9),
  isLearner: bool(10),
  storageVersion: string(11),
  dbSizeQuota: int64Number(12),
  downgradeInfo: nested(13, () => DowngradeInfo),
});
export type StatusResponse = MessageOut<typeof StatusResponse>;
export type StatusResponseIn = MessageIn<typeof StatusResponse>;

export const DefragmentRequest = message('etcdserverpb.DefragmentRequest', {});
export type DefragmentRequest = MessageOut<typeof DefragmentRequest>;
export type DefragmentRequestIn = MessageIn<typeof DefragmentRequest>;

export const DefragmentResponse = message('etcdserverpb.DefragmentResponse', {
  header: nested(1, () => ResponseHeader),
});
export type DefragmentResponse = MessageOut<typeof DefragmentResponse>;
export type DefragmentResponseIn = MessageIn<typeof DefragmentResponse>;

export const MoveLeaderRequest = message('etcdserverpb.MoveLeaderRequest', {
  targetID: uint64(1),
});
export type MoveLeaderRequest = MessageOut<typeof MoveLeaderRequest>;
export type MoveLeaderRequestIn = MessageIn<typeof MoveLeaderRequest>;

export const MoveLeaderResponse = message('etcdserverpb.MoveLeaderResponse', {
  header: nested(1, () => ResponseHeader),
});
export type MoveLeaderResponse = MessageOut<typeof MoveLeaderResponse>;
export type MoveLeaderResponseIn = MessageIn<typeof MoveLeaderResponse>;

export const HashRequest = message('etcdserverpb.HashRequest', {});
export type HashRequest = MessageOut<typeof HashRequest>;
export type HashRequestIn = MessageIn<typeof HashRequest>;

export const HashResponse = message('etcdserverpb.HashResponse', {
  header: nested(1, () => ResponseHeader),
  hash: uint32(2),
});
export type HashResponse = MessageOut<typeof HashResponse>;
export type HashResponseIn = MessageIn<typeof HashResponse>;

export const HashKVRequest = message('etcdserverpb.HashKVRequest', {
  revision: int64Number(1),
});
export type HashKVRequest = MessageOut<typeof HashKVRequest>;
export type HashKVRequestIn = MessageIn<typeof HashKVRequest>;

export const HashKVResponse = message('etcdserverpb.HashKVResponse', {
  header: nested(1, () => ResponseHeader),
  hash: uint32(2),
  compactRevision: int64Number(3),
  hashRevision: int64Number(4),
});
export type HashKVResponse = MessageOut<typeof HashKVResponse>;
export type HashKVResponseIn = MessageIn<typeof HashKVResponse>;

export const SnapshotRequest = message('etcdserverpb.SnapshotRequest', {});
export type SnapshotRequest = MessageOut<typeof SnapshotRequest>;
export type SnapshotRequestIn = MessageIn<typeof SnapshotRequest>;

export const SnapshotResponse = message('etcdserverpb.SnapshotResponse', {
  header: nested(1, () => ResponseHeader),
  remainingBytes: uint64Number(2),
  blob: bytes(3),
  version: string(4),
});
export type SnapshotResponse = MessageOut<typeof SnapshotResponse>;
export type SnapshotResponseIn = MessageIn<typeof SnapshotResponse>;
