import { CHARTS, type ChartId, type CriticalMetric } from '../../../core/contract/index.ts';

/** The charts of one component, in the order in which they are read: load, pace, trouble, cost. */
export const sections = [
  {
    id: 'apiserver',
    charts: [
      'apiRequests',
      'apiLatencyP99',
      'apiErrors',
      'apiInFlight',
      'apiWatchers',
      'apiServerCpu',
      'apiServerMemory',
    ],
  },
  {
    id: 'etcd',
    charts: [
      'etcdPuts',
      'etcdCommitP99',
      'etcdFsyncP99',
      'etcdPeerRoundTripP99',
      'etcdLeaderChanges',
      'etcdDbBytes',
      'etcdProposalsPending',
    ],
  },
  { id: 'scheduler', charts: ['schedulerAttempts', 'schedulerLatencyP99', 'schedulerPending'] },
  { id: 'controllers', charts: ['queueDepth', 'queueAdds', 'queueTimeP99'] },
  { id: 'nodes', charts: ['nodePods', 'nodeCpu', 'nodeMemory'] },
] as const satisfies readonly { readonly id: string; readonly charts: readonly ChartId[] }[];
export type SectionId = (typeof sections)[number]['id'];

export const sectionOf = (chart: ChartId | null): SectionId =>
  sections.find(({ charts }) => (charts as readonly ChartId[]).includes(chart ?? 'apiRequests'))?.id ??
  'apiserver';

export const ranges = [
  { id: '15m', spanMs: 15 * 60_000, points: 90, everyMs: 5_000 },
  { id: '1h', spanMs: 3_600_000, points: 180, everyMs: 15_000 },
  { id: '6h', spanMs: 6 * 3_600_000, points: 360, everyMs: 60_000 },
  { id: '24h', spanMs: 24 * 3_600_000, points: 288, everyMs: 120_000 },
] as const;
export type RangeId = (typeof ranges)[number]['id'];

/** Lines of a chart: figures in another unit, and limits of zero (any is too many), cannot be drawn. */
export const thresholdsOf = (chart: ChartId, critical: readonly CriticalMetric[]): number[] => [
  ...new Set(
    critical
      .filter((metric) => metric.chart === chart && metric.unit === CHARTS[chart] && metric.threshold > 0)
      .map(({ threshold }) => threshold),
  ),
];

/** Firing first, the longest of them on top; the rest in the order of the contract. */
export const byUrgency = (critical: readonly CriticalMetric[]): CriticalMetric[] => {
  const rank = ({ state }: CriticalMetric): number => (state === 'firing' ? 0 : 1);
  return [...critical].sort(
    (a, b) => rank(a) - rank(b) || (rank(a) === 0 ? (a.sinceMs ?? 0) - (b.sinceMs ?? 0) : 0),
  );
};
