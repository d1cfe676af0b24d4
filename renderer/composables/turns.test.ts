import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('a response is taken unless a later one was taken before', () => {
  const turns = createTurns();
  const [first, second, third] = [turns.next(), turns.next(), turns.next()];
  expect([second.take(), first.take(), third.take(), second.take()]).toEqual([true, false, true, false]);
});

test('only the last request that was sent is the last one', () => {
  const turns = createTurns();
  const first = turns.next();
  expect(first.isLast()).toBe(true);
  const second = turns.next();
  expect([first.isLast(), second.isLast()]).toEqual([false, true]);
});

test('after the end nothing is taken', () => {
  const turns = createTurns();
  const turn = turns.next();
  turns.end();
  expect([turn.take(), turn.isLast(), turns.next().take()]).toEqual([false, false, false]);
});
