import { expect, test } from 'vitest';
import { learnerReady, mayAdd, mayPromote, mayRemove, type ClusterView } from './reconfiguration.ts';
import type { Member } from './types.ts';

/** One letter a member, the first is this one: S started and healthy, N new connection, D down, U never started, L learner. */
const viewOf = (letters: string): ClusterView => {
  const members: Member[] = [...letters].map((letter, i) => ({
    id: i + 1,
    name: letter === 'U' ? '' : `m${i}`,
    peerURLs: [],
    clientURLs: [],
    isLearner: letter === 'L',
  }));
  return {
    members,
    localId: 1,
    nowMs: 100_000,
    activeSinceMs: (id) => {
      const letter = letters[id - 1];
      if (letter === 'D' || letter === 'U') return undefined;
      return letter === 'N' ? 96_000 : 10_000;
    },
  };
};

const VOTER = { isLearner: false };
const NOT_STARTED = 'NotEnoughStartedMembers';
const UNHEALTHY = 'UnhealthyCluster';

test.each([
  ['S', undefined],
  ['SS', undefined],
  ['SSS', undefined],
  ['SU', NOT_STARTED],
  ['SSU', NOT_STARTED],
  ['SSSU', UNHEALTHY],
  ['SUU', NOT_STARTED],
  ['SSD', UNHEALTHY],
  ['SSN', UNHEALTHY],
  ['SSSL', undefined],
])('adding a voter to %s: %s', (letters, reason) => {
  expect(mayAdd(viewOf(letters), VOTER)?.reason).toBe(reason);
});

test.each([
  ['SU', UNHEALTHY],
  ['SSD', UNHEALTHY],
  ['SSS', undefined],
])('adding a learner to %s: %s', (letters, reason) => {
  expect(mayAdd(viewOf(letters), { isLearner: true })?.reason).toBe(reason);
});

test.each([
  ['SSS', 3, undefined],
  ['SSS', 1, undefined],
  ['SSD', 3, undefined],
  ['SSD', 2, UNHEALTHY],
  ['SSN', 2, UNHEALTHY],
  ['SSU', 3, undefined],
  ['SSU', 2, NOT_STARTED],
  ['S', 1, NOT_STARTED],
  ['SSSDD', 2, UNHEALTHY],
  ['SSSDD', 4, undefined],
  ['SL', 2, undefined],
  ['SS', 9, undefined],
])('removing from %s member %i: %s', (letters, id, reason) => {
  expect(mayRemove(viewOf(letters), id)?.reason).toBe(reason);
});

test.each([
  ['SL', undefined],
  ['SUL', undefined],
  ['SUUL', NOT_STARTED],
])('promoting in %s: %s', (letters, reason) => {
  expect(mayPromote(viewOf(letters))?.reason).toBe(reason);
});

test.each([
  [90, 100, undefined],
  [89, 100, 'LearnerNotReady'],
  [undefined, 100, 'IDNotFound'],
])('a learner at %s of %i: %s', (learnerMatch, leaderMatch, reason) => {
  expect(learnerReady({ learnerMatch, leaderMatch })?.reason).toBe(reason);
});

test('the texts are what clients of etcd know', () => {
  expect([
    mayAdd(viewOf('SUU'), VOTER)?.message,
    mayAdd(viewOf('SSD'), VOTER)?.message,
    learnerReady({ learnerMatch: 1, leaderMatch: 9 })?.message,
  ]).toEqual([
    'etcdserver: re-configuration failed due to not enough started members',
    'etcdserver: unhealthy cluster',
    'etcdserver: can only promote a learner member which is in sync with leader',
  ]);
});
