import { expect, test } from 'vitest';
import { Progress } from './progress.ts';

const progressOf = (next: number): Progress =>
  new Progress({ id: 2, learner: false, next, bounds: { inflightMessagesMax: 4, inflightBytesMax: 1000 } });

const seen = ({ state, match, next, paused }: Progress): unknown => ({ state, match, next, paused });

test('a probe waits for its answer before the next', () => {
  const progress = progressOf(5);
  progress.sent({ count: 3, bytes: 30, commit: 0 });
  expect(seen(progress)).toEqual({ state: 'probe', match: 0, next: 5, paused: true });
});

test('in replication the next index runs ahead of the acknowledgements', () => {
  const progress = progressOf(1);
  progress.becomeReplicate();
  progress.sent({ count: 3, bytes: 30, commit: 0 });
  progress.sent({ count: 2, bytes: 20, commit: 0 });
  expect(seen(progress)).toEqual({ state: 'replicate', match: 0, next: 6, paused: false });
});

test('an old refusal changes nothing, a new one goes back to the match', () => {
  const progress = progressOf(1);
  progress.becomeReplicate();
  progress.acknowledged(4);
  progress.sent({ count: 3, bytes: 30, commit: 0 });
  expect(progress.rejected(4, 2)).toBe(false);
  expect(progress.rejected(7, 2)).toBe(true);
  expect(seen(progress)).toEqual({ state: 'probe', match: 4, next: 5, paused: false });
});

test('a refused probe goes back to the hint, never below the match', () => {
  const progress = progressOf(10);
  expect(progress.rejected(8, 3)).toBe(false);
  expect(progress.rejected(9, 3)).toBe(true);
  expect(progress.next).toBe(4);
  progress.acknowledged(3);
  progress.rejected(3, 0);
  expect(progress.next).toBe(4);
});

test('after a snapshot the probe starts behind it, after a failed one where it was', () => {
  const progress = progressOf(3);
  progress.becomeSnapshot();
  expect(progress.paused).toBe(true);
  progress.pendingSnapshot = 40;
  progress.becomeProbe();
  expect(progress.next).toBe(41);
  progress.becomeSnapshot();
  progress.becomeProbe();
  expect(progress.next).toBe(1);
});

test('the commit index that is sent never exceeds the entries that were sent', () => {
  const progress = progressOf(3);
  progress.becomeReplicate();
  progress.acknowledged(2);
  progress.sent({ count: 1, bytes: 10, commit: 9 });
  expect(progress.sentCommit).toBe(3);
});
