import { ALARM_ACTION, ALARM_TYPE } from '../../proto/index.ts';
import * as proto from '../../proto/index.ts';
import { fromRange, fromTxn, mayPut, toRange, toTxn } from '../../apply/index.ts';
import { isReadOnly } from '../../mvcc/txn.ts';
import type { Identity } from '../../auth/index.ts';
import { hasReason } from '../../../base/errors.ts';
import { etcdError } from '../../refusals/errors.ts';
import type { MemberApi } from '../../rpc/member-api.ts';
import type { Member } from '../member.ts';

type KvApi = Pick<MemberApi, 'range' | 'put' | 'deleteRange' | 'txn' | 'compact'>;

/** Reads pass the gate or are content with what is here; writes go through the log. */
export const kvApi = (member: Member): KvApi => {
  const { machine, proposals, reads, auth } = member;

  /** Before it costs the log anything: what would be refused for want of room is refused here. */
  const hasRoom = (bytes: number): boolean => machine.quota.hasRoomFor(bytes);
  /** Anyone who is refused finds the alarm raised, as with etcd: it is what an operator looks for next. */
  const refuseFull = async (): Promise<never> => {
    await raiseNoSpace();
    throw etcdError('NoSpace');
  };
  let raising: Promise<void> | undefined;
  const raiseNoSpace = async (): Promise<void> => {
    if (machine.alarms.isRaised(ALARM_TYPE.NOSPACE)) return;
    const alarm = proto.AlarmRequest.encode({
      action: ALARM_ACTION.ACTIVATE,
      memberID: BigInt(member.id),
      alarm: ALARM_TYPE.NOSPACE,
    });
    // Anyone who writes next tries again, should this one get lost.
    const done = (): void => void (raising = undefined);
    await (raising ??= proposals.propose('alarm', alarm).then(done, done));
  };

  /** There was room when it was asked for, and none any more when it was applied: that is told by the alarm too. */
  const proposeWrite = async (
    kind: 'put' | 'txn',
    payload: Uint8Array,
    identity: Identity | undefined,
  ): Promise<unknown> => {
    try {
      return await proposals.propose(kind, payload, identity);
    } catch (error) {
      if (hasReason(error, 'NoSpace')) await raiseNoSpace();
      throw error;
    }
  };

  const checkSound = (): void => {
    if (machine.alarms.isRaised(ALARM_TYPE.CORRUPT)) throw etcdError('Corrupt');
  };

  return {
    async range(request, context) {
      if (!request.serializable) await reads.pass();
      if (auth.isEnabled) (await auth.access(context))?.read(request.key, request.rangeEnd);
      checkSound();
      const result = machine.store.range(toRange(request));
      return { header: { revision: result.revision }, ...fromRange(result) };
    },
    async put(request, context) {
      const identity = auth.isEnabled ? await auth.identify(context) : undefined;
      if (!hasRoom(request.key.byteLength + request.value.byteLength)) await refuseFull();
      return (await proposeWrite(
        'put',
        proto.PutRequest.encode(request),
        identity,
      )) as proto.PutResponseIn & {
        header: { revision: number };
      };
    },
    async deleteRange(request, context) {
      const identity = auth.isEnabled ? await auth.identify(context) : undefined;
      const payload = proto.DeleteRangeRequest.encode(request);
      return (await proposals.propose('deleteRange', payload, identity)) as proto.DeleteRangeResponseIn & {
        header: { revision: number };
      };
    },
    async txn(request, context) {
      const txn = toTxn(request);
      if (isReadOnly(txn)) {
        if (!isSerializable(request)) await reads.pass();
        if (auth.isEnabled) (await auth.access(context))?.txn(request);
        checkSound();
        const result = machine.store.txn(txn);
        return { header: { revision: result.revision }, ...fromTxn(result) };
      }
      const identity = auth.isEnabled ? await auth.identify(context) : undefined;
      if (mayPut(request) && !hasRoom(0)) await refuseFull();
      return (await proposeWrite(
        'txn',
        proto.TxnRequest.encode(request),
        identity,
      )) as proto.TxnResponseIn & {
        header: { revision: number };
      };
    },
    async compact(request, context) {
      // Any user may, as with etcd, but no one without a name: history is gone for all.
      if (auth.isEnabled) (await auth.access(context))?.known();
      const answer = (await proposals.propose('compact', proto.CompactionRequest.encode(request))) as {
        header: { revision: number };
        done: Promise<void>;
      };
      if (request.physical) await answer.done;
      return { header: answer.header };
    },
  };
};

/** As etcd decides it: a transaction is content with local state when all its reads say so. */
const isSerializable = (request: proto.TxnRequest): boolean =>
  [...request.success, ...request.failure].every((op) => op.requestRange?.serializable === true);
