import { expect, test } from 'vitest';
import type { EtcdMember } from '../../../core/contract/index.ts';
import { quorumOf, ringArcs, successorOf } from './quorum.ts';

const members = (...roles: EtcdMember['role'][]) =>
  roles.map((role, index) => ({ id: `${index}`, name: `cp-${index}`, role, lag: 9 - index }));

test('of three members two are needed and one may fail', () => {
  expect(quorumOf(members('leader', 'follower', 'follower'))).toEqual({
    voters: 3,
    learners: 0,
    needed: 2,
    healthy: 3,
    tolerance: 1,
    verdict: 'safe',
  });
});

test('a learner has no vote, and one that does not answer still counts for the majority', () => {
  expect(quorumOf(members('leader', 'follower', 'unreachable', 'learner'))).toMatchObject({
    voters: 3,
    learners: 1,
    healthy: 2,
    tolerance: 0,
    verdict: 'degraded',
  });
});

test('four members need three: they tolerate no more than three do', () => {
  expect(quorumOf(members('leader', 'follower', 'follower', 'follower'))).toMatchObject({
    needed: 3,
    tolerance: 1,
  });
});

test('the effect of stopped members is calculated without stopping them', () => {
  const three = members('leader', 'follower', 'follower');
  expect([quorumOf(three, new Set(['0'])).verdict, quorumOf(three, new Set(['0', '1'])).verdict]).toEqual([
    'degraded',
    'outage',
  ]);
});

test('a single member is no warning, and no member is no quorum', () => {
  expect([quorumOf(members('leader')).verdict, quorumOf([]).verdict]).toEqual(['single', 'outage']);
});

test('the ring has an arc a member, the first at the top', () => {
  const arcs = ringArcs(['a', 'b', 'c'], { center: 46, radius: 39 });
  expect([arcs.length, arcs[0]?.path]).toEqual([3, 'M14.05 23.63A39 39 0 0 1 77.95 23.63']);
});

test('a ring of one is nearly whole', () => {
  expect(ringArcs(['a'], { center: 46, radius: 39 })[0]?.path).toContain('0 1 1');
});

test('the follower that is the least behind takes the lead next', () => {
  expect(successorOf(members('leader', 'follower', 'follower', 'learner'))).toBe('cp-2');
});
