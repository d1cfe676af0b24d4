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
