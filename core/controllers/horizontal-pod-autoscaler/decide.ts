import { messageOf } from '../../base/errors.ts';
import type { V2MetricStatus } from '../../api/schema/index.ts';
import type { HorizontalPodAutoscaler } from '../../client/index.ts';
import {
  normalize,
  normalizeWithBehavior,
  type Condition,
  type History,
  type NormalizeInput,
} from './behavior.ts';
import { MetricFailure, type Proposal } from './metric-proposal.ts';

export interface Evaluation {
  /** Undefined where no metric may decide: then `error` says why. */
  readonly replicas: number | undefined;
  readonly metric: string;
  readonly statuses: readonly V2MetricStatus[];
  readonly condition: Condition;
  readonly failures: readonly MetricFailure[];
  readonly error: string | undefined;
}

const EMPTY_STATUS: V2MetricStatus = { type: '' };

/** The highest proposal counts. Some that failed are no reason not to scale up, and one not to scale down. */
export const evaluate = (
  results: readonly PromiseSettledResult<Proposal>[],
  specReplicas: number,
): Evaluation => {
  let [replicas, metric] = [0, ''];
  const failures: MetricFailure[] = [];
  const statuses = results.map((result) => {
    if (result.status === 'rejected') {
      const { reason } = result as { reason: unknown };
      failures.push(
        reason instanceof MetricFailure
          ? reason
          : new MetricFailure('FailedGetMetric', messageOf(reason), messageOf(reason), reason),
      );
      return EMPTY_STATUS;
    }
    if (replicas === 0 || result.value.replicas > replicas)
      [replicas, metric] = [result.value.replicas, result.value.metric];
    return result.value.status;
  });
  const [first] = failures;
  const error =
    first &&
    `invalid metrics (${failures.length} invalid out of ${results.length}), first error is: ${first.message}`;
  if (first && (failures.length >= results.length || replicas < specReplicas))
    return {
      replicas: undefined,
      metric: '',
      statuses,
      failures,
      error,
      condition: {
        type: 'ScalingActive',
        status: 'False',
        reason: first.reason,
        message: `the HPA was unable to compute the replica count: ${first.detail}`,
      },
    };
  return {
    replicas,
    metric,
    statuses,
    failures,
    error,
    condition: {
      type: 'ScalingActive',
      status: 'True',
      reason: 'ValidMetricFound',
      message: `the HPA was able to successfully calculate a replica count from ${metric}`,
    },
  };
};

export interface Decision {
  readonly replicas: number;
  /** Empty where nothing changes. */
  readonly reason: string;
  readonly conditions: readonly Condition[];
  readonly history: History;
}

export const minReplicasOf = ({ spec }: HorizontalPodAutoscaler): number => spec.minReplicas ?? 1;

/** What is decided without a metric; undefined where metrics have to. */
export const decideWithoutMetrics = (
  hpa: HorizontalPodAutoscaler,
  currentReplicas: number,
  history: History,
): Decision | undefined => {
  const minReplicas = minReplicasOf(hpa);
  const { maxReplicas } = hpa.spec;
  if (currentReplicas === 0)
    return {
      replicas: 0,
      reason: '',
      history,
      conditions: [
        {
          type: 'ScalingActive',
          status: 'False',
          reason: 'ScalingDisabled',
          message: 'scaling is disabled since the replica count of the target is zero',
        },
      ],
    };
  if (currentReplicas > maxReplicas)
    return {
      replicas: maxReplicas,
      reason: 'Current number of replicas above Spec.MaxReplicas',
      conditions: [],
      history,
    };
  if (currentReplicas < minReplicas)
    return {
      replicas: minReplicas,
      reason: 'Current number of replicas below Spec.MinReplicas',
      conditions: [],
      history,
    };
  return undefined;
};

export const decide = (
  hpa: HorizontalPodAutoscaler,
  proposal: { readonly replicas: number; readonly metric: string },
  rest: Pick<NormalizeInput, 'currentReplicas' | 'history' | 'nowMs' | 'downscaleWindowMs'>,
): Decision => {
  const { currentReplicas } = rest;
  const input: NormalizeInput = {
    ...rest,
    desiredReplicas: Math.max(0, proposal.replicas),
    minReplicas: minReplicasOf(hpa),
    maxReplicas: hpa.spec.maxReplicas,
  };
  const { behavior } = hpa.spec;
  const { replicas, conditions, history } = behavior
    ? normalizeWithBehavior(input, behavior)
    : normalize(input);
  const reason =
    proposal.replicas > currentReplicas
      ? `${proposal.metric} above target`
      : proposal.replicas < currentReplicas
        ? 'All metrics below target'
        : '';
  return { replicas, reason, conditions, history };
};
