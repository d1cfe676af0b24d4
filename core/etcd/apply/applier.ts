import type * as proto from '../proto/index.ts';

/** What each kind of request asks for and is answered with. Headers are added by anyone who answers. */
export interface Applier {
  put(request: proto.PutRequest): proto.PutResponseIn;
  deleteRange(request: proto.DeleteRangeRequest): proto.DeleteRangeResponseIn;
  txn(request: proto.TxnRequest): proto.TxnResponseIn;
  /** `done` resolves when the history is gone from the disk too; for those who asked for that. */
  compact(request: proto.CompactionRequest): proto.CompactionResponseIn & { readonly done: Promise<void> };
  leaseGrant(request: proto.LeaseGrantRequest): proto.LeaseGrantResponseIn;
  leaseRevoke(request: proto.LeaseRevokeRequest): proto.LeaseRevokeResponseIn;
  leaseCheckpoint(request: proto.LeaseCheckpointRequest): proto.LeaseCheckpointResponseIn;
  alarm(request: proto.AlarmRequest): proto.AlarmResponseIn;
}
