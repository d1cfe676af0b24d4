import { expect, test } from 'vitest';
import type { EtcdView } from '../../../core/contract/index.ts';
import { memberFixture } from './raft-fixture.ts';
import { entriesPerSecond, logCells, memberSeries, withView } from './member-samples.ts';

const view = (atMs: number, raftIndex: number, lag: number | 'unreachable' = 0): EtcdView => ({
  atMs,
  problem: null,
  members: [
    memberFixture('cp-1', { role: 'leader', raftIndex }),
    memberFixture(
      'cp-2',
      lag === 'unreachable' ? { role: 'unreachable' } : { lag, raftIndex: raftIndex - lag },
    ),
  ],
});

test('a member that did not answer, or a pause of looking, is a gap and not a zero', () => {
  const views = [view(1000, 10, 2), view(2000, 11, 'unreachable'), view(9000, 12, 1)];
  expect(memberSeries(views, memberFixture('cp-2').id, 'lag')).toEqual([2, undefined, undefined, 1]);
});

test('the pace of the log is entries over the time between two samples', () => {
  expect(entriesPerSecond([view(1000, 100), view(2000, 150), view(3000, 150), view(4000, 20)])).toEqual([
    undefined,
    50,
    0,
    undefined,
  ]);
});

test('a follower that is behind lacks the newest entries and has yet to apply some', () => {
  expect(logCells({ raftIndex: 98, raftAppliedIndex: 97 }, 100, 5)).toEqual([
    'applied',
    'applied',
    'stored',
    'missing',
    'missing',
  ]);
});

test('a burst of views while there is no leader does not crowd out the past', () => {
  const times = [0, 1000, 1100, 1200, 1300, 2000, 2100, 3000];
  const kept = times.map((atMs) => view(atMs, 1)).reduce(withView, [] as readonly EtcdView[]);
  expect(kept.map(({ atMs }) => atMs)).toEqual([0, 1000, 2000, 3000]);
});
