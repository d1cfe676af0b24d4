import { expect, test } from 'vitest';
import { FloodGuard } from './flood-guard.ts';

const FRAMES = 20_000;

test('a ping and a reset for each answer is a busy client, not a flood', () => {
  const guard = new FloodGuard(() => 0);
  const busy = (): void => {
    for (let call = 0; call < FRAMES; call += 1) {
      guard.cheapFrame();
      guard.cheapFrame();
      guard.answered();
    }
  };
  expect(busy).not.toThrow();
});

test('the same without answers is a flood within one second, and none when spread over many', () => {
  const send = (nowMs: (frame: number) => number) => (): void => {
    let frame = 0;
    const guard = new FloodGuard(() => nowMs(frame));
    for (; frame < FRAMES; frame += 1) guard.cheapFrame();
  };
  expect(send(() => 0)).toThrow('too many control frames');
  expect(send((frame) => frame)).not.toThrow();
});

const MIN_MS = 5000;
/** Pings at the given times; the number of the one that was too much. */
const pingsUntilRefused = (timesMs: readonly number[], openStreams: number): number => {
  let nowMs = 0;
  const guard = new FloodGuard(() => nowMs, MIN_MS);
  for (const [index, atMs] of timesMs.entries()) {
    nowMs = atMs;
    try {
      guard.ping(openStreams);
    } catch (error) {
      expect((error as Error).message).toBe('too_many_pings');
      return index + 1;
    }
  }
  return Infinity;
};

test('the third ping that comes too early is one too many', () => {
  expect(pingsUntilRefused([0, 1000, 2000, 3000, 4000], 1)).toBe(4);
  expect(pingsUntilRefused([0, 5000, 10_000, 15_000, 20_000], 1)).toBe(Infinity);
  expect(pingsUntilRefused([0, 5000, 10_000, 15_000, 20_000], 0)).toBe(4);
});

test('a client that is answered may ping as often as it is', () => {
  const guard = new FloodGuard(() => 0, MIN_MS);
  const busy = (): void => {
    for (let call = 0; call < FRAMES; call += 1) {
      guard.ping(1);
      guard.answered();
    }
  };
  expect(busy).not.toThrow();
});
