import { expect, test } from 'vitest';
import { ListTurns } from './list-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lists that each take `listMs` by a clock that stands still otherwise. */
const lists = (count: number, listMs: number) => {
  let nowMs = 0;
  const began: number[] = [];
  const turns = new ListTurns({ monotonicMs: () => nowMs });
  const begin = (list: number): void => {
    began.push(list);
    nowMs += listMs;
  };
  for (let list = 0; list < count; list += 1) {
    const entered = turns.enter();
    if (entered === undefined) begin(list);
    else void entered.then(() => begin(list));
  }
  return { began, turns };
};

test('a list that is alone begins immediately, and so does the next one in a later turn', async () => {
  const { began, turns } = lists(1, 5);
  await turn();
  expect([began, turns.enter()]).toEqual([[0], undefined]);
});

test('lists that take long begin in turns of their own, in the order they came', async () => {
  const { began } = lists(4, 5);
  const seen: number[] = [];
  for (let count = 0; count < 12 && began.length < 4; count += 1) {
    seen.push(began.length);
    await turn();
  }
  expect(began).toEqual([0, 1, 2, 3]);
  expect(new Set(seen)).toEqual(new Set([1, 2, 3]));
});

test('short lists share a turn, up to a bound', async () => {
  const { began } = lists(41, 0.01);
  const perTurn: number[] = [];
  while (began.length < 41) {
    const before = began.length;
    await turn();
    if (began.length > before) perTurn.push(began.length - before);
  }
  expect(perTurn).toEqual([1, 16, 16, 7]);
});
