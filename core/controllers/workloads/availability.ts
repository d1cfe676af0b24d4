import { untilPodAvailableMs, type HandlerResult, type Pod } from '../../client/index.ts';

/** When the next ready pod is available: no one announces that it has been ready for long enough. */
export const nextAvailability = (
  pods: readonly Pod[],
  minReadySeconds: number,
  nowMs: number,
): HandlerResult => {
  const waitsMs = pods
    .map((pod) => untilPodAvailableMs(pod, minReadySeconds, nowMs) ?? 0)
    .filter((waitMs) => waitMs > 0);
  return waitsMs.length > 0 ? { requeueAfterMs: Math.min(...waitsMs) } : undefined;
};
