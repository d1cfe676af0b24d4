import type { LessorPort } from '../lease/index.ts';
import { keyString } from '../mvcc/model.ts';
import type { Store } from '../mvcc/store.ts';
import { ALARM_ACTION, ALARM_TYPE } from '../proto/index.ts';
import type { Alarms } from './alarms.ts';
import type { Applier } from './applier.ts';
import { toTxn } from './requests.ts';
import { fromDeleteRange, fromPut, fromTxn } from './responses.ts';

export interface ApplyState {
  readonly store: Store;
  readonly lessor: LessorPort;
  readonly alarms: Alarms;
}

/** The end of the chain: does what the request says. */
export const storeApplier = ({ store, lessor, alarms }: ApplyState): Applier => ({
  put: (request) => fromPut(store.put(request)),
  deleteRange: (request) => fromDeleteRange(store.deleteRange(request)),
  txn: (request) => fromTxn(store.txn(toTxn(request))),
  compact: (request) => ({ done: store.compact(request.revision).done }),
  leaseGrant(request) {
    const lease = lessor.grant(request.ID, request.TTL);
    return { ID: lease.id, TTL: lease.grantedTtlSeconds };
  },
  leaseRevoke(request) {
    store.deleteKeys(lessor.revoke(request.ID).map(keyString));
    return {};
  },
  leaseCheckpoint(request) {
    for (const { ID, remainingTTL } of request.checkpoints)
      lessor.checkpoint({ id: ID, remainingTtlSeconds: remainingTTL });
    return {};
  },
  alarm(request) {
    const { action, alarm, memberID } = request;
    switch (action) {
      case ALARM_ACTION.GET:
        return { alarms: alarms.list(alarm, memberID) };
      case ALARM_ACTION.ACTIVATE:
        if (alarm === ALARM_TYPE.NONE) return {};
        return { alarms: [alarms.raise({ alarm, memberID })] };
      case ALARM_ACTION.DEACTIVATE: {
        const cleared = alarms.list(alarm, memberID).flatMap((raised) => alarms.clear(raised) ?? []);
        return { alarms: cleared };
      }
      default:
        return {};
    }
  },
});
