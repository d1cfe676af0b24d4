import type { InFlightLimits } from '../../data-folder/in-flight-limits.ts';
import type { ChartId, CriticalMetric } from '../../../contract/index.ts';
import { byOf, readingKey } from '../scrape/reading.ts';
import type { Component, MeasureId } from '../scrape/measures.ts';
import type { Window } from '../scrape/window.ts';

export type CriticalId = CriticalMetric['id'];

const RECENT_MS = 60_000;
const LEADER_CHANGES_MS = 300_000;

const API_SECONDS_MAX = 1;
const API_ERRORS_MAX = 0.01;
const ETCD_SECONDS_MAX = 0.1;
const DB_SHARE_MAX = 0.8;
const PENDING_PODS_MAX = 50;
const QUEUE_DEPTH_MAX = 100;
const QUEUE_SECONDS_MAX = 5;
const IN_FLIGHT_SHARE_MAX = 0.8;
/** etcd's own, where a member does not say. */
const QUOTA_BYTES_DEFAULT = 2 * 1024 * 1024 * 1024;

export interface Instance {
  readonly component: Component;
  readonly instance: string;
  readonly window: Window;
}

/** The worst of all instances now. */
export interface Figure {
  readonly value: number;
  readonly threshold: number;
  readonly subject: string;
  readonly chart: ChartId | null;
}

export const UNITS: Readonly<Record<CriticalId, CriticalMetric['unit']>> = {
  apiLatencyP99: 'seconds',
  apiErrors: 'ratio',
  etcdLatencyP99: 'seconds',
  etcdLeaderChanges: 'count',
  etcdDbSize: 'bytes',
  unschedulablePods: 'count',
  pendingPods: 'count',
  queueDepth: 'count',
  queueTimeP99: 'seconds',
  apiInFlight: 'ratio',
  repeatedFailures: 'count',
};

/** What is shown while nothing was measured. */
export const THRESHOLDS: Readonly<Record<CriticalId, number>> = {
  apiLatencyP99: API_SECONDS_MAX,
  apiErrors: API_ERRORS_MAX,
  etcdLatencyP99: ETCD_SECONDS_MAX,
  etcdLeaderChanges: 0,
  etcdDbSize: DB_SHARE_MAX * QUOTA_BYTES_DEFAULT,
  unschedulablePods: 0,
  pendingPods: PENDING_PODS_MAX,
  queueDepth: QUEUE_DEPTH_MAX,
  queueTimeP99: QUEUE_SECONDS_MAX,
  apiInFlight: IN_FLIGHT_SHARE_MAX,
  repeatedFailures: 0,
};

/** By how much of its threshold: instances may have thresholds of their own. */
const worst = (figures: readonly Figure[]): Figure | undefined =>
  figures.reduce<Figure | undefined>((so, one) => {
    const weight = ({ value, threshold }: Figure): number => (threshold > 0 ? value / threshold : value);
    return !so || weight(one) > weight(so) ? one : so;
  }, undefined);

interface Facts {
  readonly instances: readonly Instance[];
  readonly nowMs: number;
  readonly limits: InFlightLimits;
}

type Assess = (facts: Facts) => readonly Figure[];

const of = ({ instances }: Facts, ...components: readonly Component[]): readonly Instance[] =>
  instances.filter(({ component }) => components.includes(component));

const p99 = (
  { nowMs }: Facts,
  { instance, window }: Instance,
  measure: MeasureId,
  { threshold, chart }: { readonly threshold: number; readonly chart: ChartId },
): readonly Figure[] =>
  window.keysOf(measure).flatMap((key) => {
    const value = window.quantile(key, 0.99, nowMs - RECENT_MS);
    const subject = byOf(key) || instance;
    return value === undefined ? [] : [{ value, threshold, subject, chart }];
  });

const ASSESS: Readonly<Record<CriticalId, Assess>> = {
  apiLatencyP99: (facts) =>
    of(facts, 'kube-apiserver').flatMap((one) =>
      p99(facts, one, 'apiDuration', { threshold: API_SECONDS_MAX, chart: 'apiLatencyP99' }),
    ),
  apiErrors: (facts) =>
    of(facts, 'kube-apiserver').flatMap(({ instance, window }) => {
      const sinceMs = facts.nowMs - RECENT_MS;
      const all = window.increase(readingKey('apiRequests'), sinceMs);
      const failed = window.increase(readingKey('apiFailures'), sinceMs);
      if (!all || !failed || all.amount === 0) return [];
      const value = failed.amount / all.amount;
      return [{ value, threshold: API_ERRORS_MAX, subject: instance, chart: 'apiErrors' as const }];
    }),
  etcdLatencyP99: (facts) =>
    of(facts, 'etcd').flatMap((one) => [
      ...p99(facts, one, 'etcdCommit', { threshold: ETCD_SECONDS_MAX, chart: 'etcdCommitP99' }),
      ...p99(facts, one, 'etcdFsync', { threshold: ETCD_SECONDS_MAX, chart: 'etcdFsyncP99' }),
    ]),
  etcdLeaderChanges: (facts) =>
    of(facts, 'etcd').flatMap(({ instance, window }) => {
      // A member that has just started counts the leader that it finds.
      const sinceMs = facts.nowMs - LEADER_CHANGES_MS;
      const grown = window.increase(readingKey('etcdLeaderChanges'), sinceMs, 1);
      if (!grown) return [];
      return [{ value: grown.amount, threshold: 0, subject: instance, chart: 'etcdLeaderChanges' as const }];
    }),
  etcdDbSize: (facts) =>
    of(facts, 'etcd').flatMap(({ instance, window }) => {
      const value = window.latest('etcdDbBytes');
      if (value === undefined) return [];
      // A quota of zero or less is none.
      const quota = window.latest('etcdQuotaBytes') ?? QUOTA_BYTES_DEFAULT;
      const threshold = DB_SHARE_MAX * (quota > 0 ? quota : QUOTA_BYTES_DEFAULT);
      return [{ value, threshold, subject: instance, chart: 'etcdDbBytes' as const }];
    }),
  unschedulablePods: (facts) =>
    of(facts, 'kube-scheduler').flatMap(({ instance, window }) => {
      const value = window.latest(readingKey('schedulerPending', 'unschedulable'));
      return value === undefined
        ? []
        : [{ value, threshold: 0, subject: instance, chart: 'schedulerPending' as const }];
    }),
  pendingPods: (facts) =>
    of(facts, 'kube-scheduler').flatMap(({ instance, window }) => {
      const keys = window.keysOf('schedulerPending');
      if (keys.length === 0) return [];
      const value = keys.reduce((sum, key) => sum + (window.latest(key) ?? 0), 0);
      return [{ value, threshold: PENDING_PODS_MAX, subject: instance, chart: 'schedulerPending' as const }];
    }),
  queueDepth: (facts) =>
    of(facts, 'kube-controller-manager', 'cloud-controller-manager').flatMap(({ window }) =>
      window.keysOf('queueDepth').map((key) => ({
        value: window.latest(key) ?? 0,
        threshold: QUEUE_DEPTH_MAX,
        subject: byOf(key),
        chart: 'queueDepth' as const,
      })),
    ),
  queueTimeP99: (facts) =>
    of(facts, 'kube-controller-manager', 'cloud-controller-manager').flatMap((one) =>
      p99(facts, one, 'queueTime', { threshold: QUEUE_SECONDS_MAX, chart: 'queueTimeP99' }),
    ),
  repeatedFailures: (facts) =>
    of(facts, 'kube-apiserver').flatMap(({ instance, window }) => {
      const keys = window.keysOf('apiRepeated');
      // No user has such a series while no one loops.
      if (keys.length === 0)
        return window.increase(readingKey('apiRequests'), facts.nowMs - RECENT_MS)
          ? [{ value: 0, threshold: 0, subject: instance, chart: null }]
          : [];
      return keys.flatMap((key) => {
        const grown = window.increase(key, facts.nowMs - RECENT_MS);
        return grown
          ? [{ value: grown.amount, threshold: 0, subject: byOf(key) || instance, chart: null }]
          : [];
      });
    }),
  apiInFlight: (facts) =>
    of(facts, 'kube-apiserver').flatMap(({ instance, window }) =>
      (['readOnly', 'mutating'] as const).flatMap((kind) => {
        const count = window.latest(readingKey('apiInFlight', kind));
        if (count === undefined) return [];
        const limit = facts.limits[kind];
        const value = limit > 0 ? count / limit : 0;
        return [
          {
            value,
            threshold: IN_FLIGHT_SHARE_MAX,
            subject: `${instance} ${kind}`,
            chart: 'apiInFlight' as const,
          },
        ];
      }),
    ),
};

/** `nowMs` is of the clock that readings are stamped with. Absent: no one could be asked. */
export const figuresOf = (facts: Facts): ReadonlyMap<CriticalId, Figure> => {
  const figures = new Map<CriticalId, Figure>();
  for (const [id, assess] of Object.entries(ASSESS) as [CriticalId, Assess][]) {
    const figure = worst(assess(facts));
    if (figure) figures.set(id, figure);
  }
  return figures;
};
