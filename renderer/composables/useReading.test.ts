import { effectScope, ref, shallowRef } from 'vue';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ContractError, verbatim } from '../../core/contract/index.ts';
import { useCallReading, useStreamReading } from './useReading.ts';
import { SLOW_AFTER_MS } from './useSlow.ts';
import type { StreamHealth } from './useStream.ts';

const error = new ContractError('Unavailable', verbatim('nobody listens'));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an answer is late only after a while, and what was read stays when a later one fails', async () => {
  const scope = effectScope();
  const pending = ref(true);
  const failure = shallowRef<ContractError>();
  const isRead = ref(false);
  const reading = scope.run(() => useCallReading({ pending, error: failure }, () => isRead.value))!;
  const phases: string[] = [reading.value.phase];
  await vi.advanceTimersByTimeAsync(SLOW_AFTER_MS);
  phases.push(reading.value.phase);
  failure.value = error;
  phases.push(reading.value.phase);
  isRead.value = true;
  phases.push(reading.value.phase);
  expect(phases).toEqual(['asked', 'late', 'refused', 'ready']);
  scope.stop();
});

test('a lost stream waits for its host, unless the error says more', () => {
  const scope = effectScope();
  const health = shallowRef<StreamHealth>({ phase: 'lost', error });
  const [lost, refused] = scope.run(() => [
    useStreamReading(
      () => health.value,
      () => false,
    ),
    useStreamReading(
      () => health.value,
      () => false,
      { lostIsRefused: true },
    ),
  ])!;
  expect([lost!.value, refused!.value]).toEqual([
    { phase: 'lost', error },
    { phase: 'refused', error },
  ]);
  health.value = { phase: 'paused' };
  expect(lost!.value.phase).toBe('asked');
  scope.stop();
});
