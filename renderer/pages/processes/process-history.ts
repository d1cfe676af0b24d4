import type { ProcessSample, ProcessVitals } from '../../../core/contract/index.ts';
import type { SampleValue } from '../../components/sparkline-path.ts';

export interface ProcessHistory extends ProcessSample {
  readonly cpu: readonly SampleValue[];
  readonly memory: readonly SampleValue[];
}

/** A sample this late leaves a gap in every chart: the time in between is not known. */
const GAP_MS = 2_500;

/** The samples with an empty place wherever time passed without one. */
export const withGaps = (samples: readonly ProcessVitals[]): (ProcessVitals | undefined)[] =>
  samples.flatMap((sample, index) => {
    const before = samples[index - 1];
    return before && sample.atMs - before.atMs > GAP_MS ? [undefined, sample] : [sample];
  });

/**
 * The processes of the newest sample, each with its past. Busiest first by the mean of the last seconds,
 * so that rows do not jump with every sample.
 */
export const processHistories = (samples: readonly ProcessVitals[]): ProcessHistory[] => {
  const places = withGaps(samples).map((sample) => new Map(sample?.processes.map((one) => [one.pid, one])));
  const meanCpu = (cpu: readonly SampleValue[]): number => {
    const recent = cpu.slice(-10).filter((value) => value !== undefined);
    return recent.reduce((sum, value) => sum + value, 0) / Math.max(1, recent.length);
  };
  return (samples.at(-1)?.processes ?? [])
    .map((now) => ({
      ...now,
      cpu: places.map((place) => place.get(now.pid)?.cpuPercent),
      memory: places.map((place) => place.get(now.pid)?.memoryBytes),
    }))
    .map((history) => ({ history, rank: Math.round(meanCpu(history.cpu)) }))
    .sort((a, b) => b.rank - a.rank || a.history.pid - b.history.pid)
    .map(({ history }) => history);
};

export const highest = (values: readonly SampleValue[]): number =>
  values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);

export const sumOf = (sample: ProcessVitals, field: 'cpuPercent' | 'memoryBytes'): number =>
  sample.processes.reduce((sum, one) => sum + one[field], 0);
