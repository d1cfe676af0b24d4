import { CRITICAL_METRICS, type CriticalMetric } from '../../../contract/index.ts';
import { THRESHOLDS, UNITS, type CriticalId, type Figure } from './figures.ts';

/** What fires now, and since when: a figure that fired before keeps its moment while it stays above its threshold. */
export const assessCritical = (
  before: readonly CriticalMetric[],
  figures: ReadonlyMap<CriticalId, Figure>,
  nowMs: number,
): CriticalMetric[] =>
  CRITICAL_METRICS.map((id) => {
    const unit = UNITS[id];
    const figure = figures.get(id);
    if (!figure)
      return {
        id,
        unit,
        value: null,
        threshold: THRESHOLDS[id],
        state: 'unknown',
        sinceMs: null,
        subject: '',
        chart: null,
      };
    const isFiring = figure.value > figure.threshold;
    const sinceMs = before.find((one) => one.id === id && one.state === 'firing')?.sinceMs ?? nowMs;
    return {
      id,
      unit,
      ...figure,
      state: isFiring ? 'firing' : 'ok',
      sinceMs: isFiring ? sinceMs : null,
    };
  });
