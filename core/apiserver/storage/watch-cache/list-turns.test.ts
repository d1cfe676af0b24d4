import { expect, test } from 'vitest';
import { ListTurns } from './list-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lists that come together, and the order in which they begin. */
const lists = (count: number) => {
  const turns = new ListTurns();
  const began: number[] = [];
  for (let list = 0; list < count; list += 1) {
    const entered = turns.enter();
    if (entered === undefined) began.push(list);
    else void entered.then(() => began.push(list));
  }
  return { began, turns };
};

test('a list that is alone begins immediately, and so does the next one in a later turn', async () => {
  const { began, turns } = lists(1);
  await turn();
  expect([began, turns.enter()]).toEqual([[0], undefined]);
});

test('lists that come together begin one in a turn, in the order they came', async () => {
  const { began } = lists(4);
  const seen: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    seen.push(began.length);
    await turn();
  }
  expect([began, seen]).toEqual([
    [0, 1, 2, 3],
    [1, 2, 3, 4],
  ]);
});

test('a list that comes while others wait is the last of them', async () => {
  const { began, turns } = lists(3);
  await turn();
  void turns.enter()?.then(() => began.push(3));
  for (let count = 0; count < 3; count += 1) await turn();
  expect(began).toEqual([0, 1, 2, 3]);
});
