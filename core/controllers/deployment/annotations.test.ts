import { expect, test } from 'vitest';
import type { Stored, ReplicaSet } from '../../client/index.ts';
import { nextRevision, REVISION, revisionOf, ROLLBACK_TO, rollbackTarget } from './annotations.ts';
import { byRevision } from './replica-sets.ts';

const held = (revision: string): Stored<ReplicaSet> => ({
  metadata: { name: revision, uid: revision, resourceVersion: '1', annotations: { [REVISION]: revision } },
});

test('a revision above 2^53 keeps its digits and its order', () => {
  const sets = [held('9007199254740993'), held('9007199254740992'), held('+7'), held('no number')];
  expect(sets.map(revisionOf)).toEqual([9007199254740993n, 9007199254740992n, 7n, undefined]);
  expect(nextRevision(sets)).toBe(9007199254740994n);
  expect(sets.toSorted(byRevision).map(({ metadata }) => metadata.name)).toEqual([
    'no number',
    '+7',
    '9007199254740992',
    '9007199254740993',
  ]);
  const ordered = { metadata: { annotations: { [ROLLBACK_TO]: '9007199254740993' } } };
  expect(rollbackTarget(ordered)).toBe(9007199254740993n);
});

test('a revision beyond int64 is none, and the one after the last wraps', () => {
  expect(revisionOf(held('9223372036854775808'))).toBeUndefined();
  expect(nextRevision([held('9223372036854775807')])).toBe(-9223372036854775808n);
});
