import * as proto from '../../../etcd/proto/index.ts';
import type { MessageType } from '../../../etcd/proto/wire/field.ts';

/** One call of etcd's API. `safe`: asking twice is the same as asking once, so a lost answer is asked for again. */
export interface Method<In, Out> {
  readonly path: string;
  readonly request: MessageType<unknown, In>;
  readonly response: MessageType<Out, never>;
  readonly safe: boolean;
}

const method = <In, Out>(
  path: string,
  request: MessageType<unknown, In>,
  response: MessageType<Out, never>,
  safe: boolean,
): Method<In, Out> => ({ path: `/etcdserverpb.${path}`, request, response, safe });

export const METHOD = {
  range: method('KV/Range', proto.RangeRequest, proto.RangeResponse, true),
  txn: method('KV/Txn', proto.TxnRequest, proto.TxnResponse, false),
  /** A transaction of reads alone. */
  reads: method('KV/Txn', proto.TxnRequest, proto.TxnResponse, true),
  compact: method('KV/Compact', proto.CompactionRequest, proto.CompactionResponse, false),
  watch: method('Watch/Watch', proto.WatchRequest, proto.WatchResponse, false),
  leaseGrant: method('Lease/LeaseGrant', proto.LeaseGrantRequest, proto.LeaseGrantResponse, false),
  leaseKeepAlive: method(
    'Lease/LeaseKeepAlive',
    proto.LeaseKeepAliveRequest,
    proto.LeaseKeepAliveResponse,
    true,
  ),
  status: method('Maintenance/Status', proto.StatusRequest, proto.StatusResponse, true),
} as const;
