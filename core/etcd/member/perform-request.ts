import * as proto from '../proto/index.ts';
import type { RequestEntry } from './request-entry.ts';
import type { StateMachine } from './state-machine.ts';

/** Does what a committed request says. Throws ReasonError where it is refused, on every member alike. */
export const performRequest = (
  { applier, membership }: Pick<StateMachine, 'applier' | 'membership'>,
  { kind, payload }: RequestEntry,
): object => {
  switch (kind) {
    case 'put':
      return applier.put(proto.PutRequest.decode(payload));
    case 'deleteRange':
      return applier.deleteRange(proto.DeleteRangeRequest.decode(payload));
    case 'txn':
      return applier.txn(proto.TxnRequest.decode(payload));
    case 'compact':
      return applier.compact(proto.CompactionRequest.decode(payload));
    case 'leaseGrant':
      return applier.leaseGrant(proto.LeaseGrantRequest.decode(payload));
    case 'leaseRevoke':
      return applier.leaseRevoke(proto.LeaseRevokeRequest.decode(payload));
    case 'leaseCheckpoint':
      return applier.leaseCheckpoint(proto.LeaseCheckpointRequest.decode(payload));
    case 'alarm':
      return applier.alarm(proto.AlarmRequest.decode(payload));
    case 'memberAttributes': {
      const { ID, name, clientURLs } = proto.Member.decode(payload);
      membership.setAttributes(Number(ID), { name, clientURLs });
      return {};
    }
    case 'clusterVersion':
      membership.setClusterVersion(Buffer.from(payload).toString());
      return {};
  }
};
