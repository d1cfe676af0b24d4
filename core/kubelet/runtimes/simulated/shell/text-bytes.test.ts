import { expect, test } from 'vitest';
import { bytesOf, TextOfChunks, textOf } from './text-bytes.ts';

/** A seeded sequence, so that a failure can be repeated. */
const noise = (length: number, seed: number): Buffer => {
  let state = seed;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return (state >> 16) & 0xff;
    }),
  );
};

test('text is text, and any bytes come back as they were', () => {
  expect(textOf(Buffer.from('grün 🚢\n'))).toBe('grün 🚢\n');
  expect(bytesOf('grün 🚢\n')).toEqual(Buffer.from('grün 🚢\n'));
  for (let seed = 1; seed <= 50; seed += 1) {
    const bytes = Buffer.concat([noise(400, seed), Buffer.from('🚢'), noise(5, seed)]);
    expect(bytesOf(textOf(bytes)), `seed ${seed}`).toEqual(bytes);
  }
});

test.each([1, 2, 3, 5, 64])(
  'chunks of %i bytes come back as they were, and characters stay together',
  (size) => {
    const bytes = Buffer.concat([Buffer.from('grün 🚢 → '), noise(300, 7), Buffer.from([0xf0, 0x9f])]);
    const decoder = new TextOfChunks();
    let text = '';
    for (let at = 0; at < bytes.length; at += size) text += decoder.write(bytes.subarray(at, at + size));
    text += decoder.end();
    expect(text.startsWith('grün 🚢 → ')).toBe(true);
    expect(bytesOf(text)).toEqual(bytes);
  },
);
