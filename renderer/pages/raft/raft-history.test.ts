// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import type { EtcdEvent } from '../../../core/contract/index.ts';
import { electionsSince, longestVacancyMs, raftHistory, termSpans } from './raft-history.ts';

const event = (kind: EtcdEvent['kind'], atMs: number, more: Partial<EtcdEvent> = {}): EtcdEvent => ({
  kind,
  atMs,
  member: 'cp-1',
  term: 0,
  durationMs: null,
  ...more,
});
const killed = [
  event('leader', 1000, { member: 'cp-3', term: 4 }),
  event('memberDown', 61_000, { member: 'cp-3' }),
  event('leaderLost', 60_000, { member: 'cp-3', term: 4 }),
  event('leader', 61_300, { member: 'cp-1', term: 5, durationMs: 1300 }),
  event('memberUp', 90_000, { member: 'cp-3' }),
];

test('a killed leader: its lead ends, another begins, and the time between is an election with a cause', () => {
  const history = raftHistory(killed);
  expect(history).toMatchObject({
    sinceMs: 1000,
    members: ['cp-1', 'cp-3'],
    leaderships: [
      { member: 'cp-3', term: 4, fromMs: 1000, toMs: 60_000 },
      { member: 'cp-1', term: 5, fromMs: 61_300, toMs: null },
    ],
    absences: [{ member: 'cp-3', fromMs: 61_000, toMs: 90_000 }],
    vacancies: [{ fromMs: 60_000, toMs: 61_300 }],
  });
  expect(electionsSince(history, 0)).toEqual([
    { atMs: 61_300, term: 5, to: 'cp-1', from: 'cp-3', durationMs: 1300, cause: 'down' },
  ]);
});

test('a lead that was handed over names no failure', () => {
  const history = raftHistory([
    event('leader', 1000, { member: 'cp-1', term: 4 }),
    event('leader', 9000, { member: 'cp-2', term: 5, durationMs: 200 }),
  ]);
  expect(history.elections.map(({ cause }) => cause)).toEqual(['first', 'moved']);
  expect(history.leaderships[0]?.toMs).toBe(8800);
});

test('a loss without an end lasts until now', () => {
  const history = raftHistory([event('leader', 1000, { term: 2 }), event('leaderLost', 5000, { term: 2 })]);
  expect([history.vacancies, history.leaderships.at(-1)?.toMs]).toEqual([
    [{ fromMs: 5000, toMs: null }],
    5000,
  ]);
});

test('a repeated report of the same leader is no election', () => {
  const history = raftHistory([event('leader', 1000, { term: 2 }), event('leader', 2000, { term: 2 })]);
  expect(history.leaderships).toHaveLength(1);
});

test('a member that joined or left has a lane only while it belonged', () => {
  const history = raftHistory([
    event('leader', 1000, { member: 'cp-1', term: 2 }),
    event('memberAdded', 5000, { member: 'cp-4' }),
    event('memberRemoved', 8000, { member: 'cp-2' }),
  ]);
  expect(history.presences).toEqual([
    { member: 'cp-1', fromMs: 1000, toMs: null },
    { member: 'cp-4', fromMs: 5000, toMs: null },
    { member: 'cp-2', fromMs: 1000, toMs: 8000 },
  ]);
});

test('terms follow each other without a gap, and a term with one leader is one span', () => {
  expect(termSpans(raftHistory(killed))).toEqual([
    { term: 4, fromMs: 1000, toMs: 61_300 },
    { term: 5, fromMs: 61_300, toMs: null },
  ]);
});

test('elections are counted within the window that is looked at', () => {
  const history = raftHistory(killed);
  expect([electionsSince(history, 70_000), longestVacancyMs(electionsSince(history, 0))]).toEqual([[], 1300]);
});

test('without reports there is no history', () => {
  expect(raftHistory([])).toMatchObject({ sinceMs: undefined, members: [], presences: [] });
});
