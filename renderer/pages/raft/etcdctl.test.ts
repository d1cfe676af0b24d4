import { expect, test } from 'vitest';
import { etcdctlLine } from './etcdctl.ts';
import { memberFixture } from './raft-fixture.ts';

const members = [
  memberFixture('cp-1', { role: 'leader', id: '8e9e05c52164694d' }),
  memberFixture('cp-2', { id: '91bc3c398fb3c146' }),
  memberFixture('cp-3', { role: 'unreachable', id: 'fd422379fda50e48' }),
];
const WITH =
  '--cacert=/data/pki/etcd/ca.crt --cert=/data/pki/etcd/healthcheck-client.crt --key=/data/pki/etcd/healthcheck-client.key';

test('the lead is moved at the leader, by id', () => {
  expect(etcdctlLine({ kind: 'member.moveLeader', member: 'cp-2' }, members, '/data')).toBe(
    `etcdctl --endpoints=https://127.21.0.1:2379 ${WITH} move-leader 91bc3c398fb3c146`,
  );
});

test('all members that answer are defragmented, or the named one', () => {
  const line = (member: string | null) => etcdctlLine({ kind: 'etcd.defragment', member }, members, '/data');
  expect([line(null)?.split(' ')[1], line('cp-2')?.split(' ')[1]]).toEqual([
    '--endpoints=https://127.21.0.1:2379,https://127.21.0.2:2379',
    '--endpoints=https://127.21.0.2:2379',
  ]);
});

test('a compaction without a revision goes to the present one', () => {
  expect(etcdctlLine({ kind: 'etcd.compact', revision: null }, members, '/data')).toMatch(/ compact 918442$/);
});

test('etcdctl has no word for what concerns hosts', () => {
  expect(etcdctlLine({ kind: 'host.stop', host: 'cp-1' }, members, '/data')).toBeUndefined();
});
