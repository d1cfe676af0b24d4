import { NOBODY } from '../../../raft/types.ts';
import { memberIdFromUint64 } from '../../membership/index.ts';
import { BUCKETS, type BackendSnapshot } from '../../mvcc/backend/backend.ts';
import { ALARM_ACTION, ALARM_TYPE } from '../../proto/index.ts';
import * as proto from '../../proto/index.ts';
import { etcdError } from '../../refusals/errors.ts';
import type { MemberApi, SnapshotSource } from '../../rpc/member-api.ts';
import { streamSnapshot } from '../../snapshot/index.ts';
import { ETCD_STORAGE_VERSION, ETCD_VERSION } from '../../version.ts';
import type { Member } from '../member.ts';
import { decodeHashRequest, encodePeerHash, PEER_HASH_KV } from '../peer-requests.ts';

type MaintenanceApi = Pick<
  MemberApi,
  'status' | 'activeAlarms' | 'alarm' | 'defragment' | 'hash' | 'hashKV' | 'moveLeader' | 'snapshot'
>;

function* entriesOf(snapshot: BackendSnapshot): Generator<{ bucket: string; key: Buffer; value: Buffer }> {
  for (const bucket of BUCKETS)
    for (const { key, value } of snapshot.entries(bucket)) yield { bucket, key, value };
}

/** The service hashes what it sends and appends the hash itself: the last chunk, which is the hash, stays here. */
async function* withoutTrailer(
  chunks: AsyncIterable<Uint8Array>,
  snapshot: BackendSnapshot,
): AsyncGenerator<Uint8Array> {
  try {
    let held: Uint8Array | undefined;
    for await (const chunk of chunks) {
      if (held !== undefined) yield held;
      held = chunk;
    }
  } finally {
    snapshot.dispose();
  }
}

export const maintenanceApi = (member: Member): MaintenanceApi => {
  const { machine, proposals, raft, transport, config } = member;

  transport.handle(PEER_HASH_KV, async (payload) =>
    encodePeerHash(await machine.store.hashKv(decodeHashRequest(payload))),
  );

  return {
    status() {
      const size = machine.backend.size();
      const { leader, term } = member.leadership;
      const { lastIndex, applied } = member.status;
      return {
        version: ETCD_VERSION,
        dbSize: size.totalBytes,
        dbSizeInUse: size.inUseBytes,
        leader: BigInt(leader),
        raftIndex: lastIndex,
        raftTerm: Math.max(term, raft.term),
        raftAppliedIndex: applied,
        isLearner: member.isLearner,
        storageVersion: ETCD_STORAGE_VERSION,
        dbSizeQuota: config.quotaBytes,
        downgradeInfo: { enabled: false },
      };
    },
    activeAlarms: () => machine.alarms.list(ALARM_TYPE.NONE),
    async alarm(request) {
      if (request.action === ALARM_ACTION.GET)
        return { alarms: machine.alarms.list(request.alarm, request.memberID) };
      return (await proposals.propose(
        'alarm',
        proto.AlarmRequest.encode(request),
      )) as proto.AlarmResponseIn & {
        header: { revision: number };
      };
    },
    async defragment() {
      const { log } = member.ports;
      const before = machine.backend.size().totalBytes;
      log.write('info', 'starting defragment', { 'current-db-size-bytes': before });
      await machine.backend.defragment();
      const after = machine.backend.size().totalBytes;
      log.write('info', 'finished defragment', {
        'current-db-size-bytes-diff': after - before,
        'current-db-size-bytes': after,
      });
    },
    async hash() {
      const { hash, revision } = await machine.store.hash();
      return { header: { revision }, hash };
    },
    async hashKV(request) {
      const result = await machine.store.hashKv(request.revision);
      return {
        header: { revision: result.currentRevision },
        hash: result.hash,
        // -1 where nothing was ever compacted, as etcd answers.
        compactRevision: result.compactRevision,
        hashRevision: result.revision,
      };
    },
    async moveLeader(targetId) {
      const target = memberIdFromUint64(targetId);
      if (!member.isLeader) throw etcdError('NotLeader');
      if (target === member.id) return;
      const refusal = target === NOBODY ? 'UnknownMember' : raft.transferLeader(target);
      if (refusal !== undefined) throw etcdError('BadLeaderTransferee');
      member.wake();
      await new Promise<void>((resolve, reject) => {
        const stop = member.onNextLeader(() => {
          timer.dispose();
          resolve();
        });
        const timer = member.ports.clock.after(member.requestLimitMs, () => {
          stop();
          reject(etcdError('TimeoutDueToLeaderFail'));
        });
      });
    },
    async snapshot(): Promise<SnapshotSource> {
      const snapshot = await machine.backend.snapshot();
      try {
        const { totalBytes, chunks } = await streamSnapshot(() => entriesOf(snapshot));
        return {
          sizeBytes: totalBytes,
          version: ETCD_STORAGE_VERSION,
          chunks: withoutTrailer(chunks, snapshot),
        };
      } catch (error) {
        snapshot.dispose();
        throw error;
      }
    },
  };
};
