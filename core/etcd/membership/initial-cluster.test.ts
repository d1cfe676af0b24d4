import { expect, test } from 'vitest';
import { clusterIdOf, memberIdOf } from './member-id.ts';
import { matchExisting, parseInitialCluster, planCluster } from './initial-cluster.ts';

const flags = {
  name: 'a',
  initialCluster: 'a=https://127.1.0.1:2380,b=https://127.1.0.2:2380,c=https://127.1.0.3:2380',
  initialClusterToken: 'etcd-cluster',
  advertisePeerUrls: ['https://127.1.0.1:2380'],
};

test('ids are the low 53 bits of what etcd 3.4 works out for the same flags', () => {
  // etcd --name default --initial-cluster default=http://localhost:2380 is member 8e9e05c52164694d of cluster cdf818194e3a8c32.
  const id = memberIdOf(['http://localhost:2380'], 'etcd-cluster');
  expect(id.toString(16)).toBe('1e05c52164694d');
  expect(clusterIdOf([id])).not.toBe(0n);
});

test('the time makes another id of the same addresses', () => {
  const urls = ['http://localhost:2380'];
  expect(memberIdOf(urls, 't', 1_700_000_000)).not.toBe(memberIdOf(urls, 't', 1_700_000_001));
  expect(memberIdOf(urls, 't', 1_700_000_000.9)).toBe(memberIdOf(urls, 't', 1_700_000_000));
});

test('every first member plans the same cluster whatever the order of the flag', () => {
  const a = planCluster(flags);
  const b = planCluster({
    ...flags,
    name: 'b',
    initialCluster: flags.initialCluster.split(',').reverse().join(','),
    advertisePeerUrls: ['https://127.1.0.2:2380'],
  });
  expect([b.clusterId, b.members]).toEqual([a.clusterId, a.members]);
  expect([a.localId, b.localId]).toEqual(
    ['a', 'b'].map((name) => a.members.find((member) => member.name === name)?.id),
  );
});

test('another token makes other ids', () => {
  expect(planCluster({ ...flags, initialClusterToken: 'x' }).clusterId).not.toBe(
    planCluster(flags).clusterId,
  );
});

test('a member may have several peer URLs', () => {
  expect(parseInitialCluster('a=http://y:2,a=http://x:1')).toEqual(
    new Map([['a', ['http://x:1', 'http://y:2']]]),
  );
});

test.each([
  ['foo', 'is not of the form name=url'],
  ['a=', 'is not of the form name=url'],
  ['a=ftp://127.0.0.1:1', 'URL scheme must be http or https: ftp://127.0.0.1:1'],
  ['a=http://127.0.0.1', 'URL address does not have the form "host:port": http://127.0.0.1'],
  ['a=http://[::1]', 'URL address does not have the form "host:port"'],
  ['a=http://127.0.0.1:2380/x', 'URL must not contain a path: http://127.0.0.1:2380/x'],
])('--initial-cluster=%s is refused with one line', (text, message) => {
  expect(() => parseInitialCluster(text)).toThrow(message);
});

test.each([
  [{ name: 'x' }, 'couldn\'t find local name "x" in the initial cluster configuration'],
  [{ initialCluster: 'a=http://h:1,b=http://h:1', advertisePeerUrls: ['http://h:1'] }, 'has duplicate url'],
  [
    { advertisePeerUrls: ['https://127.1.0.9:2380'] },
    '--initial-cluster has a=https://127.1.0.1:2380 but missing from --initial-advertise-peer-urls=https://127.1.0.9:2380',
  ],
  [
    { advertisePeerUrls: ['https://127.1.0.1:2380', 'https://127.1.0.9:2380'] },
    '--initial-advertise-peer-urls has https://127.1.0.9:2380 but missing from --initial-cluster=a=https://127.1.0.1:2380',
  ],
])('flags that contradict each other are refused: %j', (change, message) => {
  expect(() => planCluster({ ...flags, ...change })).toThrow(message);
});

test('a member that joins takes the ids of the running cluster, recognised by peer URLs', () => {
  const running = {
    clusterId: 77n,
    members: planCluster(flags).members.map((member, i) => ({ ...member, id: i + 1, name: '' })),
  };
  // The cluster knows its URLs since it was added: what it advertises besides is its own affair.
  const plan = matchExisting({ ...flags, advertisePeerUrls: ['http://localhost:2380'] }, running);
  expect([plan.clusterId, plan.members.map(({ id, name }) => [id, name]).sort()]).toEqual([
    77n,
    planCluster(flags).members.map(({ name }, i) => [i + 1, name]),
  ]);
  expect(plan.localId).toBe(plan.members.find(({ name }) => name === 'a')?.id);
});

test('a member that was not added first, or names others, may not join', () => {
  const members = planCluster(flags).members;
  expect(() => matchExisting(flags, { clusterId: 7n, members: members.slice(1) })).toThrow(
    /^error validating peerURLs \{ClusterID:7 Members:\[.*\] RemovedMemberIDs:\[\]\}: member count is unequal; add this member/,
  );
  const other = [...members.slice(1), { ...members[0]!, peerURLs: ['https://127.1.0.9:2380'] }];
  expect(() => matchExisting(flags, { clusterId: 7n, members: other })).toThrow(
    'no match found for existing member',
  );
});
