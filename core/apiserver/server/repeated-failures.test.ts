import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import type { RequestContext } from './context.ts';
import {
  createRepeatedFailures,
  REMEMBERED_MAX,
  REPEAT_WITHIN_MS,
  REPEATS_MAX,
} from './repeated-failures.ts';

const observed = () => {
  const clock = manualClock();
  const registry = new Registry();
  const repeats = createRepeatedFailures(registry, clock);
  const send = (
    code: number,
    { verb = 'create', path = '/api/v1/pods', user = 'system:node:cp-1' } = {},
  ): void =>
    repeats.observe({
      info: { verb },
      user: { name: user },
      request: { path },
      response: { code },
    } as RequestContext);
  const told = (): string[] =>
    registry
      .expose()
      .split('\n')
      .filter((line) => line.startsWith('pilothouse'));
  return { clock, send, told };
};

test('a client that repeats the same failing change is counted from the tenth time on', () => {
  const { send, told } = observed();
  for (let i = 1; i < REPEATS_MAX; i += 1) send(409);
  expect(told()).toEqual([]);
  for (let i = 0; i < 3; i += 1) send(409);
  expect(told()).toEqual(['pilothouse_apiserver_repeated_failures_total{user="system:node:cp-1"} 3']);
});

test('reads, successes in between, other codes, other clients and long pauses are no loop', () => {
  const { send, told, clock } = observed();
  for (let i = 0; i < 5 * REPEATS_MAX; i += 1) {
    send(404, { verb: 'get' });
    send(429, { path: '/busy' });
    send(i % 9 === 0 ? 201 : 409);
    send(i % 2 === 0 ? 409 : 403, { path: '/two' });
    send(409, { path: '/many', user: `user-${i}` });
  }
  for (let i = 0; i < 2 * REPEATS_MAX; i += 1) {
    clock.advance(REPEAT_WITHIN_MS + 1);
    send(409, { path: '/slow' });
  }
  expect(told()).toEqual([]);
});

test('only so many requests are remembered', () => {
  const { send, told } = observed();
  for (let round = 0; round < 2 * REPEATS_MAX; round += 1)
    for (let i = 0; i <= REMEMBERED_MAX; i += 1) send(409, { path: `/${i}` });
  expect(told()).toEqual([]);
});
