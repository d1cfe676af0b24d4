import { expect, test } from 'vitest';
import { rowLayout, slotKinds, slotPaths, SLOTS_DRAWN_MAX, wiresDown, wiresStraight } from './map-layout.ts';

test('three hosts share the width, and wires end at their middles', () => {
  const layout = rowLayout(3, 864);
  expect(layout).toEqual({ columns: 3, centers: [140, 432, 724] });
  expect(wiresDown(layout.centers, 864, 36)).toBe('M432 0V12M140 12H724M140 12V36M432 12V36M724 12V36');
  expect(wiresStraight(layout.centers, 16)).toBe('M140 0V16M432 0V16M724 0V16');
});

test('a single host hangs straight below the load balancer', () => {
  expect(wiresDown(rowLayout(1, 400).centers, 400, 36)).toBe('M200 0V36');
});

test('hosts that do not fit side by side are spread evenly over rows', () => {
  expect(rowLayout(5, 864).columns).toBe(3);
  expect(rowLayout(5, 1400).columns).toBe(5);
  expect(rowLayout(4, 700).columns).toBe(2);
});

test('no host draws no wire', () => {
  expect(wiresDown([], 800, 36)).toBe('');
});

test('pods that need a person come first, free slots last', () => {
  expect(slotKinds({ failing: 1, pending: 1, system: 1, total: 4 }, 6)).toEqual([
    'failing',
    'pending',
    'system',
    'pod',
    'free',
    'free',
  ]);
});

test('a node of thousands of slots is drawn with a bounded number', () => {
  expect(slotKinds({ failing: 0, pending: 0, system: 0, total: 4000 }, 5000)).toHaveLength(SLOTS_DRAWN_MAX);
});

test('squares of one kind are one path', () => {
  const paths = slotPaths(['pod', 'pod', 'failing'], { size: 8, gap: 2 });
  expect(paths).toEqual({
    pod: 'M0 0h8v8h-8zM10 0h8v8h-8z',
    failing: 'M24 0l4 4l-4 4l-4 -4z',
  });
});
