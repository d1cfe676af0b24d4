import { expect, test } from 'vitest';
import { Inflights } from './inflights.ts';

const windowOf = (messages: number, bytes: number): Inflights =>
  new Inflights({ inflightMessagesMax: messages, inflightBytesMax: bytes });

test('the window is full at its number of messages', () => {
  const window = windowOf(2, 1000);
  window.add(1, 1);
  expect(window.full).toBe(false);
  window.add(2, 1);
  expect(window.full).toBe(true);
  expect(() => window.add(3, 1)).toThrow('bound');
});

test('the window is full at its bytes, and one message may pass the mark', () => {
  const window = windowOf(10, 100);
  window.add(1, 99);
  expect(window.full).toBe(false);
  window.add(2, 500);
  expect({ full: window.full, bytes: window.bytes }).toEqual({ full: true, bytes: 599 });
});

test('an acknowledgement frees every message up to its index, round after round of the ring', () => {
  const window = windowOf(3, 1000);
  for (let index = 1; index <= 20; index += 1) {
    window.add(index, 10);
    if (index % 2 === 0) window.freeTo(index - 1);
  }
  expect({ count: window.count, bytes: window.bytes }).toEqual({ count: 1, bytes: 10 });
  window.freeTo(19);
  expect(window.count).toBe(1);
  window.freeTo(20);
  expect({ count: window.count, bytes: window.bytes }).toEqual({ count: 0, bytes: 0 });
});
