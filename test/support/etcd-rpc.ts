import * as proto from '../../core/etcd/proto/index.ts';
import type { MessageType } from '../../core/etcd/proto/wire/field.ts';
import type { RpcMethod } from './grpc-client.ts';

const method = <In, Out>(
  path: string,
  request: MessageType<unknown, In>,
  response: MessageType<Out, never>,
): RpcMethod<In, Out> => ({ path: `/etcdserverpb.${path}`, request, response });

/** The calls of etcd's API that tests and benches make. */
export const RPC = {
  range: method('KV/Range', proto.RangeRequest, proto.RangeResponse),
  put: method('KV/Put', proto.PutRequest, proto.PutResponse),
  deleteRange: method('KV/DeleteRange', proto.DeleteRangeRequest, proto.DeleteRangeResponse),
  txn: method('KV/Txn', proto.TxnRequest, proto.TxnResponse),
  compact: method('KV/Compact', proto.CompactionRequest, proto.CompactionResponse),
  watch: method('Watch/Watch', proto.WatchRequest, proto.WatchResponse),
  leaseGrant: method('Lease/LeaseGrant', proto.LeaseGrantRequest, proto.LeaseGrantResponse),
  status: method('Maintenance/Status', proto.StatusRequest, proto.StatusResponse),
  alarm: method('Maintenance/Alarm', proto.AlarmRequest, proto.AlarmResponse),
  defragment: method('Maintenance/Defragment', proto.DefragmentRequest, proto.DefragmentResponse),
  healthWatch: {
    path: '/grpc.health.v1.Health/Watch',
    request: proto.HealthCheckRequest,
    response: proto.HealthCheckResponse,
  },
  hashKv: method('Maintenance/HashKV', proto.HashKVRequest, proto.HashKVResponse),
  memberAdd: method('Cluster/MemberAdd', proto.MemberAddRequest, proto.MemberAddResponse),
  memberRemove: method('Cluster/MemberRemove', proto.MemberRemoveRequest, proto.MemberRemoveResponse),
  memberList: method('Cluster/MemberList', proto.MemberListRequest, proto.MemberListResponse),
} as const;
