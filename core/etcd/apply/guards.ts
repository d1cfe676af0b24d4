import { ALARM_TYPE, type RequestOp, type TxnRequest } from '../proto/index.ts';
import { etcdError } from '../refusals/errors.ts';
import type { Alarms } from './alarms.ts';
import type { Applier } from './applier.ts';
import type { Quota } from './quota.ts';

const writesKeys = (ops: readonly RequestOp[]): boolean =>
  ops.some((op) => op.requestPut !== undefined || (op.requestTxn !== undefined && mayPut(op.requestTxn)));

/** Whether a transaction may add data; one that only reads or deletes is allowed when there is no room. */
export const mayPut = (request: TxnRequest): boolean =>
  writesKeys(request.success) || writesKeys(request.failure);

/**
 * Every member applies what was committed, also what goes over the quota: sizes differ between members, and
 * members must not. The one who asked is told that there is no room, and the alarm stops the next.
 */
export const quotaGuard = (inner: Applier, quota: Quota): Applier => {
  const noteRoom = <T>(result: T, hadRoom: boolean): T => {
    if (!hadRoom) throw etcdError('NoSpace');
    return result;
  };
  return {
    ...inner,
    put(request) {
      const hasRoom = quota.hasRoomFor(request.key.byteLength + request.value.byteLength);
      return noteRoom(inner.put(request), hasRoom);
    },
    txn(request) {
      const hasRoom = !mayPut(request) || quota.hasRoomFor(0);
      return noteRoom(inner.txn(request), hasRoom);
    },
    leaseGrant(request) {
      const hasRoom = quota.hasRoomFor(0);
      return noteRoom(inner.leaseGrant(request), hasRoom);
    },
  };
};

/** While NOSPACE is raised nothing is added; deleting, compacting and defragmenting stay possible. */
export const noSpaceGuard = (inner: Applier, alarms: Alarms): Applier => {
  const check = (): void => {
    if (alarms.isRaised(ALARM_TYPE.NOSPACE)) throw etcdError('NoSpace');
  };
  return {
    ...inner,
    put(request) {
      check();
      return inner.put(request);
    },
    txn(request) {
      if (mayPut(request)) check();
      return inner.txn(request);
    },
    leaseGrant(request) {
      check();
      return inner.leaseGrant(request);
    },
  };
};

/** While CORRUPT is raised nothing is changed: what a member holds cannot be trusted. */
export const corruptGuard = (inner: Applier, alarms: Alarms): Applier => {
  const guarded =
    <In, Out>(apply: (request: In) => Out) =>
    (request: In): Out => {
      if (alarms.isRaised(ALARM_TYPE.CORRUPT)) throw etcdError('Corrupt');
      return apply(request);
    };
  return {
    ...inner,
    put: guarded(inner.put),
    deleteRange: guarded(inner.deleteRange),
    txn: guarded(inner.txn),
    compact: guarded(inner.compact),
    leaseGrant: guarded(inner.leaseGrant),
    leaseRevoke: guarded(inner.leaseRevoke),
  };
};
