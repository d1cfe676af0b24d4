import { expect, test } from 'vitest';
import { isLargerThan } from './message-size.ts';

const KIB = 1024;

test('an ordinary message is within the bound', () => {
  expect(isLargerThan({ kind: 'call', id: 1, name: 'settings.write', input: { theme: 'dark' } }, KIB)).toBe(
    false,
  );
});

test('a long string, many items, deep nesting, long keys and bytes all count', () => {
  let deep: unknown = null;
  for (let i = 0; i < 1000; i += 1) deep = { deep };
  const large = [
    'x'.repeat(KIB),
    Array.from({ length: KIB }, () => 0),
    deep,
    { ['k'.repeat(KIB)]: 1 },
    new Uint8Array(2 * KIB),
    new Map([[1, 2]]),
  ];
  expect(large.map((input) => isLargerThan({ input }, KIB))).toEqual(large.map(() => true));
});

test('a message that holds itself ends the walk', () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(isLargerThan(loop, KIB)).toBe(false);
});
