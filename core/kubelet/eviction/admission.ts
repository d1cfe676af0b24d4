import type { V1Pod } from '../../api/schema/index.ts';
import type { Pressure } from './pressure.ts';

/** Pods at this priority and above keep a node alive. */
const CRITICAL_PRIORITY = 2_000_000_000;
const MEMORY_TAINT = 'node.kubernetes.io/memory-pressure';

/** Never evicted, and admitted under pressure: static pods, and those without which nothing works. */
export const isCritical = (pod: V1Pod, isStatic = false): boolean =>
  isStatic || (pod.spec?.priority ?? 0) >= CRITICAL_PRIORITY;

/** Whether a node under pressure takes a pod: one that asks for memory is none that makes a shortage of it worse. */
export const isTakenUnder = (pressures: readonly Pressure[], pod: V1Pod): boolean => {
  if (pressures.length === 0 || isCritical(pod)) return true;
  if (pressures.some((pressure) => pressure !== 'MemoryPressure')) return false;
  const tolerates = (pod.spec?.tolerations ?? []).some(
    ({ key, operator, effect }) =>
      (key === MEMORY_TAINT || (key === undefined && operator === 'Exists')) &&
      (effect === undefined || effect === '' || effect === 'NoSchedule'),
  );
  return pod.status?.qosClass !== 'BestEffort' || tolerates;
};
