import * as proto from '../../etcd/proto/index.ts';
import type { MessageType } from '../../etcd/proto/wire/field.ts';

export interface OperatorMethod<In, Out> {
  readonly path: string;
  readonly request: MessageType<unknown, In>;
  readonly response: MessageType<Out, never>;
}

const method = <In, Out>(
  path: string,
  request: MessageType<unknown, In>,
  response: MessageType<Out, never>,
): OperatorMethod<In, Out> => ({ path: `/etcdserverpb.${path}`, request, response });

export const OPERATOR = {
  status: method('Maintenance/Status', proto.StatusRequest, proto.StatusResponse),
  alarm: method('Maintenance/Alarm', proto.AlarmRequest, proto.AlarmResponse),
  defragment: method('Maintenance/Defragment', proto.DefragmentRequest, proto.DefragmentResponse),
  moveLeader: method('Maintenance/MoveLeader', proto.MoveLeaderRequest, proto.MoveLeaderResponse),
  snapshot: method('Maintenance/Snapshot', proto.SnapshotRequest, proto.SnapshotResponse),
  hashKv: method('Maintenance/HashKV', proto.HashKVRequest, proto.HashKVResponse),
  leases: method('Lease/LeaseLeases', proto.LeaseLeasesRequest, proto.LeaseLeasesResponse),
  timeToLive: method('Lease/LeaseTimeToLive', proto.LeaseTimeToLiveRequest, proto.LeaseTimeToLiveResponse),
  authStatus: method('Auth/AuthStatus', proto.AuthStatusRequest, proto.AuthStatusResponse),
  userList: method('Auth/UserList', proto.AuthUserListRequest, proto.AuthUserListResponse),
  userGet: method('Auth/UserGet', proto.AuthUserGetRequest, proto.AuthUserGetResponse),
  roleList: method('Auth/RoleList', proto.AuthRoleListRequest, proto.AuthRoleListResponse),
  roleGet: method('Auth/RoleGet', proto.AuthRoleGetRequest, proto.AuthRoleGetResponse),
  range: method('KV/Range', proto.RangeRequest, proto.RangeResponse),
  compact: method('KV/Compact', proto.CompactionRequest, proto.CompactionResponse),
  memberList: method('Cluster/MemberList', proto.MemberListRequest, proto.MemberListResponse),
  memberAdd: method('Cluster/MemberAdd', proto.MemberAddRequest, proto.MemberAddResponse),
  memberRemove: method('Cluster/MemberRemove', proto.MemberRemoveRequest, proto.MemberRemoveResponse),
  memberPromote: method('Cluster/MemberPromote', proto.MemberPromoteRequest, proto.MemberPromoteResponse),
} as const;
