import { expect, test } from 'vitest';
import { findingTone, freeBytes, memberFinding, quotaShare } from './member-health.ts';
import { memberFixture } from './raft-fixture.ts';

const of = (more: Parameters<typeof memberFixture>[1]) => memberFinding(memberFixture('cp-1', more));

test('the worst that is known about a member comes first', () => {
  expect([
    of({ role: 'unreachable', alarms: ['NOSPACE'] }),
    of({ alarms: ['NOSPACE'], fsyncP99Ms: 80 }),
    of({ alarms: ['NOSPACE', 'CORRUPT'] }),
    of({ fsyncP99Ms: 12, lag: 500 }),
    of({ lag: 500 }),
    of({ role: 'learner' }),
    of({}),
  ]).toEqual(['unreachable', 'noSpace', 'corrupt', 'slowDisk', 'behind', 'learner', 'healthy']);
});

test('a database near its quota is warned from before the alarm', () => {
  expect(of({ dbBytes: 1.8e9 })).toBe('full');
});

test('without metrics or quota nothing is claimed', () => {
  const member = memberFixture('cp-1', { fsyncP99Ms: null, quotaBytes: null });
  expect([memberFinding(member), quotaShare(member)]).toEqual(['healthy', 0]);
});

test('a member that learns is no failure', () => {
  expect((['healthy', 'learner', 'behind', 'noSpace'] as const).map(findingTone)).toEqual([
    'ok',
    'idle',
    'warn',
    'error',
  ]);
});

test('the space freed by a defragmentation is never negative', () => {
  expect([freeBytes({ dbBytes: 10, dbBytesInUse: 4 }), freeBytes({ dbBytes: 4, dbBytesInUse: 10 })]).toEqual([
    6, 0,
  ]);
});
