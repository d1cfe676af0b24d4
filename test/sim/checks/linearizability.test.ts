import { expect, test } from 'vitest';
import { checkLinearizable, type Operation, type RegisterOp } from './linearizability.ts';

const LOST = Infinity;
const at = (calledAt: number, answeredAt: number, op: RegisterOp): Operation => ({
  op,
  calledAt,
  answeredAt,
});
const put = (value: string): RegisterOp => ({ kind: 'put', value });
const get = (seen?: string): RegisterOp => ({ kind: 'get', seen });
const del = (deleted?: boolean): RegisterOp => ({ kind: 'delete', deleted });
const swap = (expected: string | undefined, value: string, swapped?: boolean): RegisterOp => ({
  kind: 'swap',
  expected,
  value,
  swapped,
});
const verdict = (...history: Operation[]): boolean => checkLinearizable(history).isLinearizable;

test('an empty history and one that happened in order are linearizable', () => {
  expect(verdict()).toBe(true);
  expect(
    verdict(
      at(1, 2, put('a')),
      at(3, 4, get('a')),
      at(5, 6, del(true)),
      at(7, 8, get()),
      at(9, 10, del(false)),
    ),
  ).toBe(true);
});

test('overlapping operations may take effect in either order', () => {
  expect(verdict(at(1, 6, put('a')), at(2, 5, put('b')), at(7, 8, get('a')))).toBe(true);
  expect(verdict(at(1, 6, put('a')), at(2, 5, put('b')), at(7, 8, get('b')))).toBe(true);
});

test('a read that began after a write was answered must see it', () => {
  expect(verdict(at(1, 2, put('a')), at(3, 4, put('b')), at(5, 6, get('a')))).toBe(false);
  expect(verdict(at(1, 2, put('a')), at(3, 4, get()))).toBe(false);
});

test('two reads must not see writes in opposite orders', () => {
  const writes = [at(1, 20, put('a')), at(2, 21, put('b'))];
  expect(verdict(...writes, at(3, 4, get('a')), at(5, 6, get('b')), at(7, 8, get('a')))).toBe(false);
  expect(verdict(...writes, at(3, 4, get('a')), at(5, 6, get('b')), at(7, 8, get('b')))).toBe(true);
});

test('a write whose answer got lost may have happened, late or never', () => {
  const lost = at(1, LOST, put('a'));
  expect(verdict(lost, at(2, 3, get()), at(4, 5, get('a')))).toBe(true);
  expect(verdict(lost, at(2, 3, get()), at(4, 5, get()))).toBe(true);
  expect(verdict(lost, at(2, 3, get('a')), at(4, 5, get()))).toBe(false);
});

test('of two swaps from the same value only one can succeed', () => {
  const first = at(1, 2, put('a'));
  expect(verdict(first, at(3, 6, swap('a', 'b', true)), at(4, 5, swap('a', 'c', true)))).toBe(false);
  expect(verdict(first, at(3, 6, swap('a', 'b', true)), at(4, 5, swap('a', 'c', false)))).toBe(true);
  expect(verdict(first, at(3, 4, swap('x', 'b', false)), at(5, 6, get('a')))).toBe(true);
});

test('a swap that was applied twice is found', () => {
  expect(verdict(at(1, 2, swap(undefined, 'a', true)), at(3, 4, del(true)), at(5, 6, get('a')))).toBe(false);
});

test('a value that no one wrote is found among many lost writes', () => {
  const lost = Array.from({ length: 12 }, (_, i) => at(i + 1, LOST, put(`v${i}`)));
  expect(verdict(...lost, at(50, 51, get('other')))).toBe(false);
  expect(verdict(...lost, at(50, 51, get('v3')), at(52, 53, get('v9')))).toBe(true);
});

test('the verdict agrees with trying every order', () => {
  const permutations = <T>(items: readonly T[]): T[][] =>
    items.length === 0
      ? [[]]
      : items.flatMap((item, i) =>
          permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]),
        );
  const explains = (order: readonly Operation[]): boolean => {
    let state: string | undefined;
    for (const [i, { op, answeredAt }] of order.entries()) {
      if (order.slice(i + 1).some((later) => later.answeredAt < order[i]!.calledAt)) return false;
      if (op.kind === 'get' && op.seen !== state) return false;
      if (op.kind === 'put') state = op.value;
      if (answeredAt === LOST) return false;
    }
    return true;
  };
  let random = 7;
  const below = (bound: number): number => {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((random / 2 ** 31) * bound);
  };
  const verdicts = { yes: 0, no: 0 };
  for (let round = 0; round < 400; round += 1) {
    const stamps = Array.from({ length: 10 }, (_, i) => i);
    const history = Array.from({ length: 5 }, () => {
      const a = stamps.splice(below(stamps.length), 1)[0]!;
      const b = stamps.splice(below(Math.min(4, stamps.length)), 1)[0]!;
      const op = below(2) === 0 ? put(String(below(3))) : get(below(4) === 0 ? undefined : String(below(3)));
      return at(Math.min(a, b), Math.max(a, b), op);
    });
    const expected = permutations(history).some(explains);
    expect(verdict(...history)).toBe(expected);
    verdicts[expected ? 'yes' : 'no'] += 1;
  }
  expect(Math.min(verdicts.yes, verdicts.no)).toBeGreaterThan(40);
});
