import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { type EtcdView, verbatim } from '../../../contract/index.ts';
import type { MemberListResponse, StatusResponse } from '../../../etcd/proto/index.ts';
import { MembersWatch } from './members-watch.ts';

type Listed = MemberListResponse['members'];

const listed = (id: number, isNamed = true): Listed[number] => ({
  ID: BigInt(id),
  name: isNamed ? `cp-${id}` : '',
  peerURLs: [`https://127.0.0.${id}:2380`],
  clientURLs: isNamed ? [`https://127.0.0.${id}:2379`] : [],
  isLearner: false,
});

const status = (id: number, more: Partial<StatusResponse> = {}): StatusResponse =>
  ({
    header: { clusterId: 9n, memberId: BigInt(id), revision: 7, raftTerm: 2 },
    version: '3.6.0',
    leader: 1n,
    raftIndex: 100,
    raftTerm: 2,
    raftAppliedIndex: 100,
    errors: [],
    dbSize: 10,
    dbSizeInUse: 5,
    dbSizeQuota: 0,
    ...more,
  }) as StatusResponse;

/** Members whose answers the test writes; `undefined` is one that is down. */
const watchOf = (cluster: { list: Listed; statuses: Record<number, StatusResponse | undefined> }) => {
  const clock = manualClock();
  const watch = new MembersWatch({
    access: () => ({ endpoints: [1, 2, 3].map((id) => `https://127.0.0.${id}:2379`), tls: {} }),
    plannedName: (url) => `cp-${/0\.(\d):/.exec(url)?.[1]}`,
    hostOf: (name) => name,
    metricsOf: () => ({ fsyncP99Ms: 1.5, proposalsFailed: 0, quotaBytes: 64 }),
    roundTripMs: (leader, to) => (leader === 'cp-1' && to === '2' ? 0.4 : null),
    probe(url) {
      const answer = (): StatusResponse | undefined => cluster.statuses[Number(/\.(\d):/.exec(url)![1])];
      return {
        url,
        get status() {
          return answer();
        },
        get problem() {
          return answer() ? null : verbatim(`${url}: connect ECONNREFUSED`);
        },
        ask: () => Promise.resolve(),
        members: () => Promise.resolve(cluster.list),
        dispose: () => undefined,
      };
    },
    clock,
    log: silentLog,
  });
  const look = async (): Promise<EtcdView> => {
    const next = new Promise<EtcdView>((resolve) => {
      const listening = watch.onView((view) => {
        listening.dispose();
        resolve(view);
      });
    });
    watch.start();
    clock.advance(1_000);
    const view = await next;
    await new Promise(setImmediate);
    return view;
  };
  return { watch, look };
};

const rolesOf = ({ members }: EtcdView): string[] => members.map(({ name, role }) => `${name} ${role}`);

test('members of a new cluster are named by the plan until they report their names', async () => {
  const cluster = {
    list: [1, 2, 3].map((id) => listed(id, false)),
    statuses: { 1: status(1), 2: status(2), 3: undefined },
  };
  const { watch, look } = watchOf(cluster);
  const expected = ['cp-1 leader', 'cp-2 follower', 'cp-3 unreachable'];
  expect(rolesOf(await look())).toEqual(expected);
  cluster.list = [1, 2, 3].map((id) => listed(id));
  expect(rolesOf(await look())).toEqual(expected);
  expect(rolesOf(await look())).toEqual(expected);
  watch.dispose();
});

test('a member tells how far it is behind, what it holds and which alarms are its own', async () => {
  const errors = ['memberID:2 alarm:NOSPACE ', 'etcdserver: no leader'];
  const { watch, look } = watchOf({
    list: [1, 2, 3].map((id) => listed(id)),
    statuses: { 1: status(1, { errors }), 2: status(2, { raftIndex: 90, errors }), 3: undefined },
  });
  const { members, problem } = await look();
  watch.dispose();
  expect(problem).toBeNull();
  expect(members[1]).toMatchObject({
    id: '2',
    lag: 10,
    revision: 7,
    quotaBytes: 64,
    alarms: ['NOSPACE'],
    fsyncP99Ms: 1.5,
    peerRoundTripMs: 0.4,
  });
  expect(members[0]).toMatchObject({ peerRoundTripMs: null, alarms: [] });
  expect(members[2]).toMatchObject({
    lag: 0,
    problem: verbatim('https://127.0.0.3:2379: connect ECONNREFUSED'),
  });
});

test('a leader that answered before its followers is not behind them', async () => {
  const { watch, look } = watchOf({
    list: [1, 2, 3].map((id) => listed(id)),
    statuses: { 1: status(1), 2: status(2, { raftIndex: 103 }), 3: status(3) },
  });
  const { members } = await look();
  watch.dispose();
  expect(members.map(({ role, raftIndex, lag }) => [role, raftIndex, lag])).toEqual([
    ['leader', 103, 0],
    ['follower', 103, 0],
    ['follower', 100, 3],
  ]);
});

test('of two that hold themselves for the leader, the one of the newer term is', async () => {
  const { watch, look } = watchOf({
    list: [1, 2, 3].map((id) => listed(id)),
    statuses: { 1: status(1), 2: status(2, { leader: 2n, raftTerm: 3 }), 3: status(3, { leader: 2n }) },
  });
  expect(rolesOf(await look())).toEqual(['cp-1 follower', 'cp-2 leader', 'cp-3 follower']);
  watch.dispose();
});

test('while no one answers the view says why', async () => {
  const { watch, look } = watchOf({ list: [], statuses: {} });
  expect(await look()).toMatchObject({
    members: [],
    problem: verbatim('https://127.0.0.1:2379: connect ECONNREFUSED'),
  });
  watch.dispose();
});
