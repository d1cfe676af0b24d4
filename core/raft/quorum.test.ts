import fc from 'fast-check';
import { expect, test } from 'vitest';
import { configurationOf } from './configuration.ts';
import { majorityValue, voteResult } from './quorum.ts';
import type { Configuration, MemberId } from './types.ts';

const votes = (yes: MemberId[], no: MemberId[]): Map<MemberId, boolean> =>
  new Map([...yes.map((id) => [id, true] as const), ...no.map((id) => [id, false] as const)]);

test('an election is won by a majority, lost when none is possible, and open in between', () => {
  const three = configurationOf([1, 2, 3]);
  expect(voteResult(three, votes([1], []))).toBe('pending');
  expect(voteResult(three, votes([1, 3], []))).toBe('won');
  expect(voteResult(three, votes([1], [2, 3]))).toBe('lost');
  expect(voteResult(configurationOf([1, 2, 3, 4]), votes([1, 2], [3]))).toBe('pending');
  expect(voteResult(configurationOf([1, 2, 3, 4]), votes([1, 2], [3, 4]))).toBe('lost');
});

test('learners have no vote', () => {
  expect(voteResult(configurationOf([1, 2, 3], [4, 5]), votes([1, 4, 5], []))).toBe('pending');
});

test('in a joint configuration both halves have to be won (thesis 4.3)', () => {
  const joint: Configuration = {
    voters: [1, 4, 5],
    votersOutgoing: [1, 2, 3],
    learners: [],
    learnersNext: [],
  };
  expect(voteResult(joint, votes([1, 2], []))).toBe('pending');
  expect(voteResult(joint, votes([1, 2, 4], []))).toBe('won');
  expect(voteResult(joint, votes([1, 2], [4, 5]))).toBe('lost');
});

test('the value of a majority is the largest that more than half have reached', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { minLength: 1, maxLength: 9 }), (values) => {
      const value = majorityValue(values, (each) => each, []);
      const reached = (at: number): number => values.filter((each) => each >= at).length;
      return reached(value) * 2 > values.length && reached(value + 1) * 2 <= values.length;
    }),
  );
});

test('an empty half of a configuration holds nothing back', () => {
  expect(majorityValue([], () => 0, [])).toBe(Infinity);
});
