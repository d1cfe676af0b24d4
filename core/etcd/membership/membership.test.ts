import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeConfiguration, EMPTY_CONFIGURATION } from '../../raft/configuration.ts';
import {
  decodeMembershipChange,
  encodeMembershipChange,
  membershipChangeOf,
  toConfigChange,
} from './config-change.ts';
import { Membership } from './membership.ts';
import type { Member, MembershipBucket, MembershipChange } from './types.ts';

const member = (id: number, more: Partial<Member> = {}): Member => ({
  id,
  name: `m${id}`,
  peerURLs: [`https://127.0.0.${id}:2380`],
  clientURLs: [],
  isLearner: false,
  ...more,
});

const setUp = () => {
  const buckets = { members: new Map<string, string>(), members_removed: new Map(), cluster: new Map() };
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
  const membership = new Membership({
    rows: {
      put: (bucket, key, value) => void buckets[bucket].set(text(key), text(value)),
      delete: (bucket, key) => void buckets[bucket].delete(text(key)),
    },
  });
  const rows = (bucket: MembershipBucket) =>
    [...buckets[bucket]].map(([key, value]) => ({ key: Buffer.from(key), value: Buffer.from(value) }));
  const state = () => ({
    members: rows('members'),
    removed: rows('members_removed'),
    cluster: rows('cluster'),
  });
  membership.apply({ kind: 'bootstrap', members: [member(1), member(2), member(3)] });
  return { membership, buckets, state };
};

const LEARNER = member(4, { name: '', isLearner: true });

test.each<[string, MembershipChange, string]>([
  ['an id twice', { kind: 'add', member: member(1, { peerURLs: ['http://h:1'] }) }, 'IDExists'],
  ['a removed id', { kind: 'add', member: member(9) }, 'IDRemoved'],
  ['a taken peer URL', { kind: 'add', member: member(5, { peerURLs: member(2).peerURLs }) }, 'PeerURLExists'],
  ['a second learner', { kind: 'add', member: member(5, { isLearner: true }) }, 'TooManyLearners'],
  ['promoting a voter', { kind: 'promote', id: 1 }, 'MemberNotLearner'],
  ['promoting nobody', { kind: 'promote', id: 8 }, 'IDNotFound'],
  ['updating nobody', { kind: 'update', id: 8, peerURLs: ['http://h:1'] }, 'IDNotFound'],
  ['moving to a taken URL', { kind: 'update', id: 1, peerURLs: member(2).peerURLs }, 'PeerURLExists'],
  ['removing nobody', { kind: 'remove', id: 8 }, 'IDNotFound'],
  ['removing twice', { kind: 'remove', id: 9 }, 'IDRemoved'],
  ['a second beginning', { kind: 'bootstrap', members: [member(7)] }, 'IDExists'],
])('%s is refused and changes nothing', (_, change, reason) => {
  const { membership, buckets } = setUp();
  membership.apply({ kind: 'add', member: LEARNER });
  membership.apply({ kind: 'add', member: member(9) });
  membership.apply({ kind: 'remove', id: 9 });
  const before = JSON.stringify([membership.members, [...buckets.members]]);
  expect(membership.validate(change)?.reason).toBe(reason);
  expect(() => membership.apply(change)).toThrow(membership.validate(change)?.message);
  expect(JSON.stringify([membership.members, [...buckets.members]])).toBe(before);
});

test('members are added as learners, promoted, moved and removed, and Raft hears of all but the move', () => {
  const { membership } = setUp();
  const told = [
    membership.apply({ kind: 'add', member: LEARNER }),
    membership.apply({ kind: 'promote', id: 4 }),
    membership.apply({ kind: 'update', id: 4, peerURLs: ['https://127.0.0.44:2380'] }),
    membership.apply({ kind: 'remove', id: 1 }),
  ];
  expect(told).toEqual([true, true, false, true]);
  expect(membership.members).toEqual([
    member(2),
    member(3),
    { ...LEARNER, isLearner: false, peerURLs: ['https://127.0.0.44:2380'] },
  ]);
  expect([membership.isRemoved(1), membership.removedIds]).toEqual([true, [1]]);
});

test('rows are laid out as etcd does, and give the same members back', () => {
  const { membership, buckets, state } = setUp();
  membership.apply({ kind: 'add', member: { ...LEARNER, id: 0x1e05c52164694d } });
  membership.apply({ kind: 'remove', id: 2 });
  membership.setAttributes(1, { name: 'one', clientURLs: ['https://127.0.0.1:2379'] });
  membership.setAttributes(2, { name: 'gone', clientURLs: [] });
  membership.setClusterVersion('3.5.0');
  expect(
    Object.fromEntries(Object.entries(buckets).map(([name, rows]) => [name, Object.fromEntries(rows)])),
  ).toEqual({
    members: {
      '1': '{"id":1,"peerURLs":["https://127.0.0.1:2380"],"name":"one","clientURLs":["https://127.0.0.1:2379"]}',
      '3': '{"id":3,"peerURLs":["https://127.0.0.3:2380"],"name":"m3"}',
      '1e05c52164694d': '{"id":8450593528244557,"peerURLs":["https://127.0.0.4:2380"],"isLearner":true}',
    },
    members_removed: { '2': 'removed' },
    cluster: { clusterVersion: '3.5.0' },
  });
  const restored = new Membership({ rows: { put() {}, delete() {} } });
  restored.recover(state());
  expect([restored.members, restored.removedIds, restored.clusterVersion]).toEqual([
    membership.members,
    membership.removedIds,
    '3.5.0',
  ]);
});

test.each([
  [
    '8e9e05c52164694d',
    '{"id":10276657743932975437,"peerURLs":["http://localhost:2380"],"name":"default"}',
    'at most 53 bits',
  ],
  ['1', 'not json', 'no JSON'],
  ['1', '{"peerURLs":[1]}', 'no list of strings'],
])('a member row %s: %s is refused', (key, value, message) => {
  const { membership } = setUp();
  const rows = { members: [{ key: Buffer.from(key), value: Buffer.from(value) }], removed: [], cluster: [] };
  expect(() => membership.recover(rows)).toThrow(message);
  expect(membership.members.length).toBe(3);
});

test('the configuration of Raft follows the members', () => {
  const { membership } = setUp();
  const before = membership.members;
  let configuration = changeConfiguration(
    EMPTY_CONFIGURATION,
    toConfigChange({ kind: 'bootstrap', members: before }, []),
  );
  const changes: MembershipChange[] = [
    { kind: 'add', member: LEARNER },
    { kind: 'update', id: 4, peerURLs: ['http://h:1'] },
    { kind: 'update', id: 2, peerURLs: ['http://h:2'] },
    { kind: 'promote', id: 4 },
    { kind: 'remove', id: 1 },
  ];
  for (const change of changes) {
    configuration = changeConfiguration(configuration, toConfigChange(change, membership.members));
    membership.apply(change);
    expect(configuration).toEqual(membership.configuration);
  }
});

test('every change survives the way through the log', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  const someone: fc.Arbitrary<Member> = fc.record({
    id,
    name: text,
    peerURLs: fc.array(text, { maxLength: 3 }),
    clientURLs: fc.array(text, { maxLength: 3 }),
    isLearner: fc.boolean(),
  });
  const change: fc.Arbitrary<MembershipChange> = fc.oneof(
    fc.record({ kind: fc.constant('bootstrap' as const), members: fc.array(someone, { maxLength: 5 }) }),
    fc.record({ kind: fc.constant('add' as const), member: someone }),
    fc.record({ kind: fc.constant('promote' as const), id }),
    fc.record({ kind: fc.constant('update' as const), id, peerURLs: fc.array(text, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('remove' as const), id }),
  );
  fc.assert(
    fc.property(change, (one) => {
      expect(membershipChangeOf(toConfigChange(one, []))).toEqual(one);
    }),
  );
});

test('an entry that leaves a joint configuration says nothing of members, and nonsense is refused', () => {
  expect(membershipChangeOf({ changes: [], context: '' })).toBeUndefined();
  for (const text of ['{', 'null', '{"kind":"x"}', '{"kind":"remove","id":"1"}', '{"kind":"add"}']) {
    expect(() => decodeMembershipChange(text)).toThrow(expect.objectContaining({ reason: 'Malformed' }));
  }
  expect(encodeMembershipChange({ kind: 'remove', id: 3 })).toBe('{"kind":"remove","id":3}');
});
