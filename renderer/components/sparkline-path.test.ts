import { expect, test } from 'vitest';
import { niceCeiling, plotPaths } from './sparkline-path.ts';

const area = { width: 40, height: 10, valueMax: 10, samplesMax: 5 };

test('few samples are at the right, where now is', () => {
  expect(plotPaths([5, 10], area)).toEqual({ line: 'M30 5L40 0', area: 'M30 10L30 5L40 0L40 10Z' });
});

test('a missing sample is a gap, not a zero', () => {
  expect(plotPaths([10, undefined, 10, 10], area).line).toBe('M10 0M30 0L40 0');
});

test('older samples than there is room for are left out', () => {
  expect(plotPaths([1, 2, 3, 4, 5, 6, 7], area).line.match(/[ML]/g)?.length).toBe(5);
});

test('the top of a scale is a round number above the largest value', () => {
  expect([0, 0.7, 3, 21, 260].map(niceCeiling)).toEqual([1, 1, 5, 25, 500]);
});
