import { naturalOrder } from '../../../core/base/natural-order.ts';
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

const ROLE_ORDER = ['main', 'renderer', 'gpu', 'utility', 'host'];
const rankOf = (role: string): number =>
  ROLE_ORDER.includes(role) ? ROLE_ORDER.indexOf(role) : ROLE_ORDER.length;

/** The processes of the newest sample, each with its past. By role and name: rows never move under the eye. */
export const processHistories = (samples: readonly ProcessVitals[]): ProcessHistory[] => {
  const places = withGaps(samples).map((sample) => new Map(sample?.processes.map((one) => [one.pid, one])));
  return (samples.at(-1)?.processes ?? [])
    .map((now) => ({
      ...now,
      cpu: places.map((place) => place.get(now.pid)?.cpuPercent),
      memory: places.map((place) => place.get(now.pid)?.memoryBytes),
    }))
    .sort((a, b) => rankOf(a.role) - rankOf(b.role) || naturalOrder(a.name, b.name) || a.pid - b.pid);
};

export const highest = (values: readonly SampleValue[]): number =>
  values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);

export const sumOf = (sample: ProcessVitals, field: 'cpuPercent' | 'memoryBytes'): number =>
  sample.processes.reduce((sum, one) => sum + one[field], 0);
