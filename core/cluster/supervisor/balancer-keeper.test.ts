import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import type { Backend } from '../load-balancer/backend-pool.ts';
import { BalancerKeeper, RESTART_PAUSE_MS } from './balancer-keeper.ts';
import type { LoadBalancerEvents } from '../load-balancer/load-balancer-thread.ts';

const backend = (name: string): Backend => ({ name, host: '127.0.0.1', port: 6443 });

const kept = () => {
  const clock = manualClock();
  const started: { events: LoadBalancerEvents; told: string[]; closed: boolean }[] = [];
  const problems: string[] = [];
  const refusals: Error[] = [];
  const keeper = new BalancerKeeper({
    clock,
    onChange: () => undefined,
    onProblem: (message) => problems.push(message),
    start: (events) => {
      const refusal = refusals.shift();
      if (refusal) return Promise.reject(refusal);
      const one = { events, told: [] as string[], closed: false };
      started.push(one);
      return Promise.resolve({
        state: () => undefined,
        setBackends: (backends) => one.told.push(backends.map(({ name }) => name).join()),
        setAdvertised: () => Promise.resolve(),
        setLinks: (links) => one.told.push(`${links.length} links`),
        close: () => {
          one.closed = true;
          return Promise.resolve(false);
        },
      });
    },
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { keeper, started, problems, refusals, pass };
};

test('a load balancer that ends on its own is started again with all that it knew', async () => {
  const { keeper, started, problems, refusals, pass } = kept();
  await keeper.start();
  keeper.add(backend('cp-2'));
  keeper.add(backend('cp-1'));
  started[0]!.events.onEnded('out of memory');
  refusals.push(new Error('the port is taken'));
  await pass(RESTART_PAUSE_MS);
  await pass(RESTART_PAUSE_MS);
  expect([started.map(({ told }) => told), problems]).toEqual([
    [['cp-2', 'cp-1,cp-2'], ['cp-1,cp-2']],
    ['the load balancer exited: out of memory', 'the port is taken'],
  ]);
});

test('after its end none is started any more, and one that was starting is ended', async () => {
  const { keeper, started, pass } = kept();
  await keeper.start();
  started[0]!.events.onEnded('out of memory');
  expect(await keeper.close()).toBe(true);
  await pass(RESTART_PAUSE_MS);
  await keeper.start();
  expect(started.map(({ closed }) => closed)).toEqual([false, true]);
});

test('a thread that does not end is reported when the process ends', async () => {
  const { keeper } = kept();
  await keeper.start();
  expect(await keeper.close()).toBe(false);
});
