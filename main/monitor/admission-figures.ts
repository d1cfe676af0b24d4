import { isNotFound } from '../../core/api/meta/status.ts';
import type { Client } from '../../core/client/index.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { ClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import { labelOf, scanMetrics } from '../../core/cluster/monitor/scrape/prometheus-text.ts';
import { quantileOf } from '../../core/cluster/monitor/scrape/quantile.ts';
import {
  ADMISSION_FIGURES_MAX,
  type AdmissionFigures,
  ContractError,
  say,
} from '../../core/contract/index.ts';
import { kubeFailure } from '../kube/failure.ts';
import { askApiServers } from './xray.ts';

const MS_PER_SECOND = 1000;
const QUANTILE = 0.99;

type Family =
  | { readonly source: 'webhook'; readonly what: 'bucket' | 'sum' | 'rejection' | 'failOpen' }
  | {
      readonly source: 'policy';
      readonly type: AdmissionFigures['type'];
      readonly what: 'bucket' | 'sum' | 'check';
    };

const WEBHOOK = 'apiserver_admission_webhook';
const FAMILIES = new Map<string, Family>([
  [`${WEBHOOK}_admission_duration_seconds_bucket`, { source: 'webhook', what: 'bucket' }],
  [`${WEBHOOK}_admission_duration_seconds_sum`, { source: 'webhook', what: 'sum' }],
  [`${WEBHOOK}_rejection_count`, { source: 'webhook', what: 'rejection' }],
  [`${WEBHOOK}_fail_open_count`, { source: 'webhook', what: 'failOpen' }],
  ...(['validating', 'mutating'] as const).flatMap((type): [string, Family][] => {
    const check = `apiserver_${type}_admission_policy_check`;
    return [
      [`${check}_total`, { source: 'policy', type, what: 'check' }],
      [`${check}_duration_seconds_bucket`, { source: 'policy', type, what: 'bucket' }],
      [`${check}_duration_seconds_sum`, { source: 'policy', type, what: 'sum' }],
    ];
  }),
]);

interface Tally {
  readonly source: AdmissionFigures['source'];
  readonly type: AdmissionFigures['type'];
  readonly name: string;
  readonly buckets: Map<number, number>;
  seconds: number;
  denials: number;
  failures: number;
}

const figuresOf = ({ source, type, name, buckets, seconds, denials, failures }: Tally): AdmissionFigures => {
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  const calls = sorted.at(-1)?.[1] ?? 0;
  const p99 = quantileOf(
    { bounds: sorted.map(([bound]) => bound), counts: sorted.map(([, count]) => count) },
    QUANTILE,
  );
  return {
    source,
    type,
    name,
    calls,
    denials,
    failures,
    meanMs: calls === 0 ? null : (MS_PER_SECOND * seconds) / calls,
    p99Ms: p99 === undefined ? null : MS_PER_SECOND * p99,
  };
};

/** What webhooks and policies did since their API servers started, by upstream's metrics; servers are added up. */
export const admissionFiguresIn = (expositions: readonly string[]): AdmissionFigures[] => {
  const tallies = new Map<string, Tally>();
  const visit = (family: Family, labels: string, value: number): void => {
    const isWebhook = family.source === 'webhook';
    const type = isWebhook ? (labelOf(labels, 'type') === 'admit' ? 'mutating' : 'validating') : family.type;
    const name = labelOf(labels, isWebhook ? 'name' : 'policy');
    const key = `${family.source} ${type} ${name}`;
    let tally = tallies.get(key);
    if (!tally) {
      if (tallies.size >= ADMISSION_FIGURES_MAX) return;
      tally = { source: family.source, type, name, buckets: new Map(), seconds: 0, denials: 0, failures: 0 };
      tallies.set(key, tally);
    }
    switch (family.what) {
      case 'bucket': {
        const bound = labelOf(labels, 'le');
        const at = bound === '+Inf' ? Infinity : Number(bound);
        tally.buckets.set(at, (tally.buckets.get(at) ?? 0) + value);
        return;
      }
      case 'sum':
        tally.seconds += value;
        return;
      case 'rejection':
        if (labelOf(labels, 'error_type') === 'no_error') tally.denials += value;
        else tally.failures += value;
        return;
      case 'failOpen':
        tally.failures += value;
        return;
      case 'check':
        if (labelOf(labels, 'enforcement_action') === 'deny') tally.denials += value;
        if (!['no_error', 'invalid_error'].includes(labelOf(labels, 'error_type'))) tally.failures += value;
    }
  };
  for (const text of expositions) scanMetrics(text, FAMILIES, visit);
  return [...tallies.values()].map(figuresOf);
};

export const localAdmissionFigures = async (
  access: ClusterAccess,
  config: ClusterConfig,
): Promise<AdmissionFigures[]> =>
  admissionFiguresIn(
    await askApiServers(access, config, { what: 'metrics', path: '/metrics', read: String }),
  );

/** Of the one server behind a kubeconfig. */
export const remoteAdmissionFigures = async (client: Client): Promise<AdmissionFigures[]> => {
  try {
    return admissionFiguresIn([await client.text({ method: 'GET', path: '/metrics' })]);
  } catch (error) {
    if (isNotFound(error))
      throw new ContractError('Unimplemented', say('failure.noMetrics'), { cause: error });
    throw kubeFailure(error);
  }
};
