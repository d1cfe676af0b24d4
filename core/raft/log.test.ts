import { expect, test } from 'vitest';
import { EMPTY_CONFIGURATION } from './configuration.ts';
import { RaftLog } from './log.ts';
import type { EntryKind, LogEntry } from './types.ts';

const entry = (index: number, term: number, kind: EntryKind = 'normal'): LogEntry => ({
  index,
  term,
  kind,
  data: new Uint8Array(8),
});

/** A log whose entries have these terms, from index 1 on, all on disk. */
const logOf = (terms: readonly number[], cursors: { commit?: number; applied?: number } = {}): RaftLog =>
  new RaftLog({
    mark: { index: 0, term: 0 },
    entries: terms.map((term, i) => entry(i + 1, term)),
    commit: cursors.commit ?? 0,
    applied: cursors.applied ?? 0,
  });

const termsOf = (log: RaftLog): number[] =>
  log.lastIndex < log.firstIndex ? [] : log.entries(log.firstIndex, Infinity).map(({ term }) => term);

test('entries that are there already are left alone, so a late append undoes nothing', () => {
  const log = logOf([1, 1, 1]);
  log.merge([entry(1, 1), entry(2, 1)]);
  expect(termsOf(log)).toEqual([1, 1, 1]);
  expect(log.hasUnpersisted()).toBe(false);
});

test('an entry that differs takes the place of all from there on (paper, figure 2)', () => {
  const log = logOf([1, 1, 1]);
  log.merge([entry(2, 2)]);
  expect(termsOf(log)).toEqual([1, 2]);
  expect(log.takeUnpersisted()).toEqual([entry(2, 2)]);
});

test('a committed entry is never replaced', () => {
  const log = logOf([1, 1, 1], { commit: 2 });
  expect(() => log.merge([entry(2, 2)])).toThrow('committed');
});

test('the better log has the later last term, or the same and is longer (paper 5.4.1)', () => {
  const log = logOf([1, 2, 2]);
  expect([
    log.isUpToDate(1, 3),
    log.isUpToDate(3, 2),
    log.isUpToDate(4, 2),
    log.isUpToDate(2, 2),
    log.isUpToDate(9, 1),
  ]).toEqual([true, true, true, false, false]);
});

test('the hint of a conflict skips all entries of later terms', () => {
  const log = logOf([1, 1, 4, 4, 5, 5]);
  expect(log.lastNotAbove(6, 3)).toEqual({ index: 2, term: 1 });
  expect(log.lastNotAbove(9, 4)).toEqual({ index: 4, term: 4 });
  expect(log.lastNotAbove(6, 5)).toEqual({ index: 6, term: 5 });
});

test('a conflict below the compaction has no term', () => {
  const log = logOf([3, 3, 3], { commit: 3, applied: 3 });
  log.compactTo(2);
  expect(log.lastNotAbove(3, 1)).toEqual({ index: 1, term: 0 });
});

test('compaction keeps the term of its last entry, by which the next one is matched', () => {
  const log = logOf([1, 2, 3], { commit: 2, applied: 2 });
  log.compactTo(2);
  expect([log.firstIndex, log.term(1), log.term(2), log.term(3), log.lastTerm]).toEqual([
    3,
    undefined,
    2,
    3,
    3,
  ]);
  expect(() => log.compactTo(3)).toThrow('not applied');
});

test('a page holds as many entries as fit, and at least one', () => {
  const log = logOf([1, 1, 1]);
  expect(log.entries(1, 80).length).toBe(2);
  expect(log.entries(1, 1).length).toBe(1);
});

test('a restored log without a hole is taken as it is, with one it is refused', () => {
  const restore = (entries: LogEntry[]): RaftLog =>
    new RaftLog({ mark: { index: 4, term: 1 }, entries, commit: 5, applied: 4 });
  // The WAL may still hold what the snapshot covers.
  expect(restore([entry(4, 1), entry(5, 1)]).lastIndex).toBe(5);
  expect(() => restore([entry(6, 1)])).toThrow('hole');
  expect(() => restore([])).toThrow('beyond');
});

test('the first of two changes of members in a restored log is committed, whatever the hard state says', () => {
  const log = new RaftLog({
    mark: { index: 0, term: 0 },
    entries: [entry(1, 1, 'config'), entry(2, 1), entry(3, 1, 'config'), entry(4, 1, 'config'), entry(5, 1)],
    commit: 0,
    applied: 0,
  });
  expect(log.committed).toBe(3);
});

test('a snapshot stops the applying of entries until it is installed', () => {
  const log = logOf([1, 1, 1], { commit: 3 });
  expect(log.takeCommitted(1000).length).toBe(3);
  const mark = { index: 9, term: 2, configuration: EMPTY_CONFIGURATION };
  log.restore(mark);
  log.appliedTo(3);
  log.append(entry(10, 2));
  log.takeUnpersisted();
  log.persisted();
  log.commitTo(10);
  expect(log.takeCommitted(1000)).toEqual([]);
  log.installed(mark);
  expect({ applied: log.applied, next: log.takeCommitted(1000).map(({ index }) => index) }).toEqual({
    applied: 9,
    next: [10],
  });
});
