import { afterEach, expect, test, vi } from 'vitest';
import { lateTeller } from './late-teller.ts';

afterEach(() => vi.useRealTimers());

test('many changes are reported once, with the text as it is then', () => {
  vi.useFakeTimers();
  const told: string[] = [];
  const teller = lateTeller((id, text) => told.push(`${id}: ${text}`), 150);
  let text = '';
  for (const letter of 'nginx') {
    text += letter;
    teller.changed('a', () => text);
  }
  expect(told).toEqual([]);
  vi.advanceTimersByTime(150);
  expect([told, teller.isWaiting]).toEqual([['a: nginx'], false]);
});

test('a change typed just before a switch is reported for the text it was typed in', () => {
  vi.useFakeTimers();
  const told: string[] = [];
  const teller = lateTeller((id, text) => told.push(`${id}: ${text}`), 150);
  teller.changed('a', () => 'typed in a');
  teller.changed('b', () => 'typed in b');
  teller.flush();
  vi.advanceTimersByTime(1000);
  expect(told).toEqual(['a: typed in a', 'b: typed in b']);
});
