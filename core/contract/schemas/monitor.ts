import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { clusterRef } from './kube.ts';

export const LEASES_MAX = 1000;
export const LEASE_SEGMENTS_MAX = 64;
export const SERIES_PER_CHART_MAX = 64;
export const POINTS_MAX = 600;
export const TRACES_MAX = 200;

/** One holder's time. */
export const leaseSegment = v.object({
  holder: v.string(),
  fromMs: v.number(),
  /** Null while it lasts. */
  toMs: v.nullable(v.number()),
});

export const leaseView = v.object({
  namespace: v.string(),
  name: v.string(),
  /** `election`: who acts. `node`: a heartbeat. `server`: an API server says that it is there. */
  kind: v.picklist(['election', 'node', 'server']),
  holder: v.string(),
  acquiredAtMs: v.nullable(v.number()),
  renewedAtMs: v.nullable(v.number()),
  durationSeconds: v.number(),
  transitions: v.number(),
  /** Oldest first, since the host looks; the present holder is the last. */
  segments: v.pipe(v.array(leaseSegment), v.maxLength(LEASE_SEGMENTS_MAX)),
  /** Seconds between the newest renewals, newest last: late ones are seen in a heat map. */
  renewGapsSeconds: v.pipe(v.array(v.number()), v.maxLength(60)),
});
export type LeaseView = v.InferOutput<typeof leaseView>;

export const leasesView = v.object({
  /** Times of leases are the server's: this is its clock's now. */
  atMs: v.number(),
  watchedSinceMs: v.number(),
  leases: v.pipe(v.array(leaseView), v.maxLength(LEASES_MAX)),
});
export type LeasesView = v.InferOutput<typeof leasesView>;

/** What the history can draw. Units: `ratio` is 0 to 1, `perSecond` a rate. */
export const CHARTS = {
  apiRequests: 'perSecond',
  apiLatencyP99: 'seconds',
  apiErrors: 'ratio',
  apiInFlight: 'count',
  apiWatchers: 'count',
  apiServerCpu: 'cores',
  apiServerMemory: 'bytes',
  etcdPuts: 'perSecond',
  etcdCommitP99: 'seconds',
  etcdFsyncP99: 'seconds',
  etcdPeerRoundTripP99: 'seconds',
  etcdLeaderChanges: 'count',
  etcdDbBytes: 'bytes',
  etcdProposalsPending: 'count',
  schedulerAttempts: 'perSecond',
  schedulerLatencyP99: 'seconds',
  schedulerPending: 'count',
  queueDepth: 'count',
  queueAdds: 'perSecond',
  queueTimeP99: 'seconds',
  nodePods: 'count',
  nodeCpu: 'cores',
  nodeMemory: 'bytes',
} as const;
export type ChartId = keyof typeof CHARTS;
export type ChartUnit = (typeof CHARTS)[ChartId];
const chartIds = Object.keys(CHARTS) as [ChartId, ...ChartId[]];
export const chartId = v.picklist(chartIds);

export const metricsQuery = v.object({
  cluster: clusterRef,
  charts: v.pipe(v.array(chartId), v.maxLength(chartIds.length)),
  fromMs: v.number(),
  toMs: v.number(),
  points: v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(POINTS_MAX)),
});
export type MetricsQuery = v.InferOutput<typeof metricsQuery>;

export const metricsAnswer = v.object({
  /** The oldest sample there is. */
  sinceMs: v.nullable(v.number()),
  stepMs: v.number(),
  /** The same moments for every series. */
  timesMs: v.pipe(v.array(v.number()), v.maxLength(POINTS_MAX)),
  charts: v.array(
    v.object({
      chart: chartId,
      series: v.pipe(
        v.array(v.object({ name: v.string(), values: v.array(v.nullable(v.number())) })),
        v.maxLength(SERIES_PER_CHART_MAX),
      ),
    }),
  ),
});
export type MetricsAnswer = v.InferOutput<typeof metricsAnswer>;

/** The figures that say how a control plane is. */
export const CRITICAL_METRICS = [
  'apiLatencyP99',
  'apiErrors',
  'etcdLatencyP99',
  'etcdLeaderChanges',
  'etcdDbSize',
  'unschedulablePods',
  'pendingPods',
  'queueDepth',
  'queueTimeP99',
  'apiInFlight',
  'repeatedFailures',
] as const;
export const criticalMetric = v.object({
  id: v.picklist(CRITICAL_METRICS),
  unit: v.picklist(['seconds', 'ratio', 'count', 'bytes']),
  /** Null while there is no sample. */
  value: v.nullable(v.number()),
  threshold: v.number(),
  state: v.picklist(['ok', 'firing', 'unknown']),
  /** Since when it fires. */
  sinceMs: v.nullable(v.number()),
  /** Which instance it is about. */
  subject: v.string(),
  chart: v.nullable(chartId),
});
export type CriticalMetric = v.InferOutput<typeof criticalMetric>;

export const metricsHealth = v.object({
  atMs: v.number(),
  critical: v.array(criticalMetric),
  targets: v.array(
    v.object({
      component: v.string(),
      instance: v.string(),
      isUp: v.boolean(),
      lastAtMs: v.nullable(v.number()),
      message: v.string(),
    }),
  ),
});
export type MetricsHealth = v.InferOutput<typeof metricsHealth>;

export const requestTrace = v.object({
  auditId: v.string(),
  server: v.string(),
  startedAtMs: v.number(),
  durationMs: v.number(),
  protocol: v.string(),
  method: v.string(),
  path: v.string(),
  verb: v.string(),
  user: v.string(),
  code: v.number(),
  stages: v.array(
    v.object({
      stage: v.string(),
      durationMs: v.number(),
      verdict: v.picklist(['passed', 'answered', 'refused', 'failed']),
      reason: v.string(),
    }),
  ),
  /** Webhooks and policies that had a say; absent: none had. */
  admission: v.optional(
    v.array(
      v.object({
        kind: v.string(),
        name: v.string(),
        part: v.string(),
        outcome: v.picklist(['changed', 'denied', 'warned', 'failed']),
        message: v.string(),
        /** Operations and paths, never values. */
        patch: v.array(v.string()),
      }),
    ),
  ),
});
export type RequestTrace = v.InferOutput<typeof requestTrace>;

export const ADMISSION_FIGURES_MAX = 1_000;

/** What one webhook or policy did, on all API servers together. */
export const admissionFigures = v.object({
  source: v.picklist(['webhook', 'policy']),
  type: v.picklist(['mutating', 'validating']),
  /** Of the webhook, not of its configuration. */
  name: v.string(),
  calls: v.number(),
  denials: v.number(),
  /** Calls and checks that failed, whatever was decided then. */
  failures: v.number(),
  meanMs: v.nullable(v.number()),
  p99Ms: v.nullable(v.number()),
});
export type AdmissionFigures = v.InferOutput<typeof admissionFigures>;

/** Why a pod went where it went, or nowhere. */
export const schedulingView = v.object({
  pod: v.string(),
  atMs: v.number(),
  profile: v.string(),
  /** Empty when no node was found. */
  node: v.string(),
  message: v.string(),
  /** Nodes that were looked at, and all there are. */
  evaluated: v.number(),
  nodes: v.number(),
  filters: v.array(v.string()),
  scores: v.array(v.object({ plugin: v.string(), weight: v.number() })),
  rows: v.pipe(
    v.array(
      v.object({
        node: v.string(),
        /** The filter that refused it and why; empty when it passed all. */
        refusedBy: v.string(),
        reason: v.string(),
        /** Of each score plugin, weighted, in the order of `scores`; empty for a node that was refused. */
        scores: v.array(v.number()),
        total: v.number(),
      }),
    ),
    v.maxLength(500),
  ),
});
export type SchedulingView = v.InferOutput<typeof schedulingView>;

export const portForward = v.object({
  id: v.string(),
  cluster: clusterRef,
  namespace: v.string(),
  pod: v.string(),
  remotePort: v.number(),
  localPort: v.number(),
  connections: v.number(),
  bytes: v.number(),
  /** Why it no longer forwards; null while it does. */
  problem: v.nullable(said),
  /** The pod is gone and a controller will replace it: the port stays open for the next one. */
  isWaiting: v.boolean(),
});
export type PortForward = v.InferOutput<typeof portForward>;
