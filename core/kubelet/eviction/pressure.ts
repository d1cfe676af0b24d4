import { ofUnits, quantityFrom } from '../../api/quantity/index.ts';
import type { V1Pod } from '../../api/schema/index.ts';

export type Signal =
  'memory.available' | 'nodefs.available' | 'nodefs.inodesFree' | 'imagefs.available' | 'imagefs.inodesFree';

/** In bytes, or inodes. */
export interface Observed {
  readonly available: number;
  readonly capacity: number;
}

export type Observations = ReadonlyMap<Signal, Observed>;

export interface Threshold {
  readonly signal: Signal;
  /** Of the capacity, or an amount. */
  readonly percent?: number;
  readonly amount?: string;
}

/** Upstream's `evictionHard`, its `evictionPressureTransitionPeriod` and monitoring interval. */
export const EVICTION_HARD: readonly Threshold[] = [
  { signal: 'memory.available', amount: '100Mi' },
  { signal: 'nodefs.available', percent: 10 },
  { signal: 'nodefs.inodesFree', percent: 5 },
  { signal: 'imagefs.available', percent: 15 },
  { signal: 'imagefs.inodesFree', percent: 5 },
];
export const PRESSURE_TRANSITION_MS = 300_000;
export const PRESSURE_CHECK_MS = 10_000;

export type Pressure = 'MemoryPressure' | 'DiskPressure';
export const PRESSURES: readonly Pressure[] = ['MemoryPressure', 'DiskPressure'];

const isMemory = ({ signal }: Threshold): boolean => signal === 'memory.available';
const pressureOf = (threshold: Threshold): Pressure =>
  isMemory(threshold) ? 'MemoryPressure' : 'DiskPressure';

/** What is short, by the name that messages have for it. */
export const resourceOf = (threshold: Threshold): string =>
  isMemory(threshold) ? 'memory' : threshold.signal.endsWith('inodesFree') ? 'inodes' : 'ephemeral-storage';

const minimumOf = ({ percent, amount }: Threshold, { capacity }: Observed): number =>
  percent === undefined ? quantityFrom(amount).toNumber() : Math.trunc((capacity * percent) / 100);

/** Those that are crossed, memory first: it runs out fastest. */
export const thresholdsMet = (
  thresholds: readonly Threshold[],
  observations: Observations,
): readonly Threshold[] =>
  thresholds
    .filter((threshold) => {
      const observed = observations.get(threshold.signal);
      return observed !== undefined && observed.available < minimumOf(threshold, observed);
    })
    .sort((a, b) => Number(isMemory(b)) - Number(isMemory(a)));

/** Which pressures a node is under: they stay for a while after they were last seen, so that nothing swings. */
export class PressureState {
  readonly #seenMs = new Map<Pressure, number>();

  observe(met: readonly Threshold[], nowMs: number): void {
    for (const threshold of met) this.#seenMs.set(pressureOf(threshold), nowMs);
  }

  at(nowMs: number): readonly Pressure[] {
    return PRESSURES.filter((pressure) => {
      const seenMs = this.#seenMs.get(pressure);
      return seenMs !== undefined && nowMs - seenMs < PRESSURE_TRANSITION_MS;
    });
  }
}

export interface ContainerNeed {
  readonly name: string;
  readonly memoryBytes: number;
  /** Its writable layer and logs. */
  readonly diskBytes: number;
}

/** What a pod uses now. */
export interface PodNeed {
  readonly containers: readonly ContainerNeed[];
  /** Bytes in volumes of the pod's own, by name; those in memory are none of the disk's. */
  readonly emptyDirs: ReadonlyMap<string, number>;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const diskBytesOf = ({ containers, emptyDirs }: PodNeed): number =>
  sum(containers.map(({ diskBytes }) => diskBytes)) + sum([...emptyDirs.values()]);

const allContainers = ({ spec }: V1Pod) => [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];

const requestOf = (pod: V1Pod, resource: string): number =>
  sum(
    (pod.spec?.containers ?? []).map(({ resources }) =>
      quantityFrom(resources?.requests?.[resource]).toNumber(),
    ),
  );

/** Who goes first: who uses more than it asked for, then the less important, then who exceeds its request by most. */
export const rank = <T extends { readonly pod: V1Pod; readonly need: PodNeed }>(
  candidates: readonly T[],
  threshold: Threshold,
): readonly T[] => {
  const isOfMemory = isMemory(threshold);
  const resource = isOfMemory ? 'memory' : 'ephemeral-storage';
  const excessOf = ({ pod, need }: T): number =>
    (isOfMemory ? sum(need.containers.map(({ memoryBytes }) => memoryBytes)) : diskBytesOf(need)) -
    requestOf(pod, resource);
  return [...candidates].sort(
    (a, b) =>
      Number(excessOf(b) > 0) - Number(excessOf(a) > 0) ||
      (a.pod.spec?.priority ?? 0) - (b.pod.spec?.priority ?? 0) ||
      excessOf(b) - excessOf(a),
  );
};

const bytes = (amount: number): string => ofUnits(BigInt(Math.trunc(amount)), 'BinarySI').toString();

export const evictionMessage = (
  pod: V1Pod,
  need: PodNeed,
  threshold: Threshold,
  observations: Observations,
): string => {
  const resource = resourceOf(threshold);
  const observed = observations.get(threshold.signal);
  const parts = [`The node was low on resource: ${resource}. `];
  if (observed) {
    const minimum = threshold.amount ?? bytes(minimumOf(threshold, observed));
    parts.push(`Threshold quantity: ${minimum}, available: ${bytes(observed.available)}. `);
  }
  for (const { name, memoryBytes, diskBytes } of resource === 'inodes' ? [] : need.containers) {
    const container = allContainers(pod).find((one) => one.name === name);
    if (!container) continue;
    const used = resource === 'memory' ? memoryBytes : diskBytes;
    const request = quantityFrom(container.resources?.requests?.[resource]);
    if (used > request.toNumber())
      parts.push(
        `Container ${name} was using ${bytes(used)}, request is ${request.toString()}, has larger consumption of ${resource}. `,
      );
  }
  return parts.join('');
};

const limitOf = (text: unknown): number | undefined => {
  const limit = quantityFrom(text).toNumber();
  return text === undefined || limit <= 0 ? undefined : limit;
};

/** What a pod may not exceed on a disk, whatever room there is; undefined while it does not. */
export const storageExcess = (pod: V1Pod, need: PodNeed): string | undefined => {
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const limit = limitOf(emptyDir?.sizeLimit);
    if (limit !== undefined && (need.emptyDirs.get(name) ?? 0) > limit)
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${quantityFrom(emptyDir!.sizeLimit).toString()}". `;
  }
  const limits = (pod.spec?.containers ?? []).map(
    ({ name, resources }) => [name, resources?.limits?.['ephemeral-storage']] as const,
  );
  const total = limits.map(([, text]) => limitOf(text));
  if (total.length > 0 && total.every((limit) => limit !== undefined)) {
    const limit = sum(total);
    if (diskBytesOf(need) > limit)
      return `Pod ephemeral local storage usage exceeds the total limit of containers ${bytes(limit)}. `;
  }
  for (const [name, text] of limits) {
    const limit = limitOf(text);
    const used = need.containers.find((one) => one.name === name)?.diskBytes ?? 0;
    if (limit !== undefined && used > limit)
      return `Container ${name} exceeded its local ephemeral storage limit "${quantityFrom(text).toString()}". `;
  }
  return undefined;
};

/** Whether anything bounds what a pod has on the disk: only such pods are measured while there is room. */
export const hasStorageLimit = ({ spec }: V1Pod): boolean =>
  (spec?.volumes ?? []).some(
    ({ emptyDir }) => emptyDir?.sizeLimit !== undefined && emptyDir.medium !== 'Memory',
  ) ||
  (spec?.containers ?? []).some(({ resources }) => resources?.limits?.['ephemeral-storage'] !== undefined);
