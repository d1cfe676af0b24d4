import { expect, test } from 'vitest';
import { raftHistory } from './raft-history.ts';
import { timelineOf } from './timeline-bars.ts';

const history = raftHistory([
  { kind: 'leader', atMs: 1000, member: 'cp-10', term: 4, durationMs: null },
  { kind: 'leaderLost', atMs: 60_000, member: 'cp-10', term: 4, durationMs: null },
  { kind: 'memberDown', atMs: 60_500, member: 'cp-10', term: 4, durationMs: null },
  { kind: 'leader', atMs: 61_300, member: 'cp-2', term: 5, durationMs: 1300 },
]);
const drawn = timelineOf(history, ['cp-1', 'cp-2', 'cp-10'], { fromMs: 0, nowMs: 100_000 });

test('every member has a lane, in numeric order, with terms below', () => {
  expect(drawn.lanes.map(({ label }) => label)).toEqual(['cp-1', 'cp-2', 'cp-10', 'Term']);
});

test('the current leader is distinct from earlier ones, and members that are down are hatched', () => {
  expect(drawn.bars.filter(({ label }) => label).map(({ lane, tone, text }) => [lane, tone, text])).toEqual([
    ['cp-10', 'past', 'Leader, term 4'],
    ['cp-2', 'now', 'Leader, term 5'],
    ['cp-10', 'idle', ''],
  ]);
});

test('an election says who had gone and how long there was no leader', () => {
  expect(drawn.marks.map(({ text }) => text)).toEqual(['cp-10 down, 1.3 s']);
  expect(drawn.marks[0]?.label).toMatch(/cp-2 elected for term 5 after cp-10, 1\.3 s without a leader$/);
});

test('a member without events was there from the first observation', () => {
  expect(drawn.bars.find(({ lane, tone }) => lane === 'cp-1' && tone === 'track')).toMatchObject({
    fromMs: 1000,
    toMs: 100_000,
  });
});
