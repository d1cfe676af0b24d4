import { expect, test } from 'vitest';
import { bytesToFree, IMAGE_GC, ImageUse, type StoredImage } from './image-gc.ts';

const image = (id: string, sizeBytes = 10, isPinned = false): StoredImage => ({ id, sizeBytes, isPinned });
const images = [image('used'), image('old'), image('older'), image('pinned', 10, true)];

test.each([
  [84, 0],
  [85, 5],
  [95, 15],
])('a disk that is %i%% full has to lose %i', (usedPercent, expected) => {
  expect(bytesToFree({ capacityBytes: 100, availableBytes: 100 - usedPercent })).toBe(expected);
});

test('the longest unused images go first, and no more than it takes', () => {
  const use = new ImageUse();
  const used = new Set(['used']);
  use.observe(images, new Set(['used', 'old', 'older']), 0);
  use.observe(images, new Set(['used', 'old']), 1_000);
  use.observe(images, used, 2_000);
  const nowMs = IMAGE_GC.ageMsMin + 2_000;
  const names = (wantedBytes: number): string[] =>
    use.removable(images, used, wantedBytes, nowMs).going.map(({ id }) => id);
  expect([names(0), names(5), names(1_000)]).toEqual([[], ['older'], ['older', 'old']]);
});

test('an image that has just come stays', () => {
  const use = new ImageUse();
  use.observe(images, new Set(), 0);
  expect(use.removable(images, new Set(), 1_000, 1_000).going).toEqual([]);
});
