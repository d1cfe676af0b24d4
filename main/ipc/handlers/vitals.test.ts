import { expect, test } from 'vitest';
import { manualClock } from '../../../core/base/manual-clock.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { createVitals, nodeLoopProbe, nodeProcessSource } from './vitals.ts';

test('samples are taken once an interval for all listeners, and only while there are any', async () => {
  const clock = manualClock();
  let samples = 0;
  let openProbes = 0;
  const vitals = createVitals({
    clock,
    intervalMs: 1000,
    processes: () => [{ pid: 1, role: 'main', name: 'x', cpuPercent: (samples += 1), memoryBytes: 0 }],
    openLoopProbe: () => {
      openProbes += 1;
      return { takeWorstMs: () => 3, dispose: () => (openProbes -= 1) };
    },
  });
  clock.advance(5000);
  expect([samples, clock.pendingCount]).toEqual([0, 0]);

  const abort = new AbortController();
  const one = vitals.watch(abort.signal)[Symbol.asyncIterator]();
  const two = vitals.watch(abort.signal)[Symbol.asyncIterator]();
  await one.next();
  const waiting = two.next();
  clock.advance(1000);
  expect((await waiting).value).toMatchObject([{ eventLoopDelayMs: 3, processes: [{ cpuPercent: 2 }] }]);

  abort.abort();
  clock.advance(5000);
  expect([samples, clock.pendingCount, openProbes, vitals.listenerCount]).toEqual([2, 0, 0, 0]);
});

test('the process reports the CPU it burnt', () => {
  const source = nodeProcessSource(systemClock);
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs);
  const [own] = source();
  expect(own?.pid).toBe(process.pid);
  // How much that is of the time that passed is up to anyone who else uses the machine.
  expect(own?.cpuPercent).toBeGreaterThan(0);
  expect(own?.memoryBytes).toBeGreaterThan(1024 * 1024);
});

test('a blocked event loop shows in the probe, once', async () => {
  const probe = nodeLoopProbe(100);
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250));
  await turn();
  const untilMs = performance.now() + 400;
  while (performance.now() < untilMs);
  await turn();
  const blocked = probe.takeWorstMs();
  const afterwards = probe.takeWorstMs();
  probe.dispose();
  expect(blocked).toBeGreaterThan(100);
  expect(afterwards).toBeLessThan(blocked);
});
