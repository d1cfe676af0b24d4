import { systemClock } from '../../core/base/node/clock.ts';
import { toRange, toTxn } from '../../core/etcd/apply/requests.ts';
import { fromDeleteRange, fromPut, fromRange, fromTxn } from '../../core/etcd/apply/responses.ts';
import { MemoryDatabase } from '../../core/etcd/mvcc/backend/memory-engine.ts';
import { Store } from '../../core/etcd/mvcc/store.ts';
import { WatchHub } from '../../core/etcd/mvcc/watch/watch-hub.ts';
import { etcdError } from '../../core/etcd/rpc/index.ts';
import type { AuthApi, MemberApi } from '../../core/etcd/rpc/index.ts';
import { ETCD_STORAGE_VERSION, ETCD_VERSION } from '../../core/etcd/version.ts';

export interface MemoryMember {
  readonly api: MemberApi;
  readonly store: Store;
  /** What the member says about the cluster; tests change it. */
  readonly cluster: { leaderId: bigint; isLearner: boolean };
  close(): void;
}

/** A multiple of 512, as database files are: etcdctl finds the checksum by what is left over. */
export const SNAPSHOT_BYTES = 586 * 512;

/** A member without Raft: the real store and watch hub behind the client API, and nothing on disk. */
export const openMemoryMember = async (): Promise<MemoryMember> => {
  const clock = systemClock;
  const store = await Store.open({ backend: new MemoryDatabase().open({ clock }), clock });
  const hub = new WatchHub(store, clock);
  const memberId = 0x8e9e05c52164694dn;
  const cluster = { leaderId: memberId, isLearner: false };
  const leases = new Map<bigint, number>();
  const members = [{ ID: memberId, name: 'one', peerURLs: ['http://localhost:2380'], clientURLs: [] }];
  const at = (revision: number) => ({ header: { revision } });
  const needLease = (id: bigint): number => {
    const ttl = leases.get(id);
    if (ttl === undefined) throw etcdError('LeaseNotFound');
    return ttl;
  };
  const unsupported = (): never => {
    throw new Error('this member has no users');
  };
  const noUsers = new Proxy({}, { get: () => unsupported }) as AuthApi;
  const api: MemberApi = {
    clusterId: 0xcdf818194e3a8c32n,
    memberId,
    term: () => 2,
    revision: () => store.revision,
    leaderId: () => cluster.leaderId,
    isLearner: () => cluster.isLearner,
    watches: hub,
    permit: () => undefined,
    permitRead: () => undefined,
    isCommonNameUsed: () => false,
    auth: noUsers,
    async range(request) {
      const result = store.range(toRange(request));
      return { ...at(result.revision), ...fromRange(result) };
    },
    async put(request) {
      const result = store.put({
        ...request,
        key: Buffer.from(request.key),
        value: Buffer.from(request.value),
      });
      return { ...at(result.revision), ...fromPut(result) };
    },
    async deleteRange(request) {
      const result = store.deleteRange(request);
      return { ...at(result.revision), ...fromDeleteRange(result) };
    },
    async txn(request) {
      const result = store.txn(toTxn(request));
      return { ...at(result.revision), ...fromTxn(result) };
    },
    async compact({ revision }) {
      await store.compact(revision).done;
      return {};
    },
    async leaseGrant({ ID, TTL }) {
      if (leases.has(ID)) throw etcdError('LeaseExist');
      const id = ID === 0n ? 0x694d77aa9e38260fn + BigInt(leases.size) : ID;
      leases.set(id, TTL);
      return { ID: id, TTL };
    },
    async leaseRevoke({ ID }) {
      needLease(ID);
      leases.delete(ID);
      return {};
    },
    leaseRenew: async (id) => needLease(id),
    async leaseTimeToLive({ ID }) {
      const TTL = needLease(ID);
      return { ID, TTL: TTL - 1, grantedTTL: TTL };
    },
    leaseLeases: async () => ({ leases: [...leases.keys()].map((ID) => ({ ID })) }),
    memberAdd: async ({ peerURLs, isLearner }) => ({ member: { ID: 5n, peerURLs, isLearner }, members }),
    async memberRemove() {
      throw etcdError('MemberNotFound');
    },
    memberUpdate: async () => members,
    memberPromote: async () => members,
    memberList: async () => members,
    status: () => ({
      version: ETCD_VERSION,
      dbSize: 4096,
      raftIndex: 7,
      raftAppliedIndex: 7,
      dbSizeInUse: 4096,
    }),
    activeAlarms: () => [],
    alarm: async () => ({ alarms: [] }),
    defragment: async () => undefined,
    async hash() {
      const { hash, revision } = await store.hash();
      return { ...at(revision), hash };
    },
    async hashKV({ revision }) {
      const result = await store.hashKv(revision);
      return { ...at(result.currentRevision), hash: result.hash };
    },
    async moveLeader() {
      throw etcdError('BadLeaderTransferee');
    },
    async snapshot() {
      async function* chunks(): AsyncGenerator<Uint8Array> {
        for (let left = SNAPSHOT_BYTES; left > 0; left -= 100_000)
          yield Buffer.alloc(Math.min(left, 100_000), 3);
      }
      return { sizeBytes: SNAPSHOT_BYTES, version: ETCD_STORAGE_VERSION, chunks: chunks() };
    },
  };
  return {
    api,
    store,
    cluster,
    close() {
      hub.dispose();
      store.close();
    },
  };
};
