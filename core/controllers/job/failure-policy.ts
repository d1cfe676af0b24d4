import type {
  V1ContainerStatus,
  V1PodFailurePolicyOnExitCodesRequirement,
  V1PodFailurePolicyOnPodConditionsPattern,
  V1PodFailurePolicyRule,
} from '../../api/schema/index.ts';
import type { Job, Pod } from '../../client/index.ts';
import { isPodFailed } from './job-spec.ts';

export interface FailureVerdict {
  readonly action: string | undefined;
  /** Whether it counts towards the limits. */
  readonly isCounted: boolean;
  /** Why the whole job fails with it. */
  readonly failsJob: string | undefined;
}

const COUNTED: FailureVerdict = { action: undefined, isCounted: true, failsJob: undefined };

const exitCodeMatch = (
  pod: Pod,
  { containerName, operator, values }: V1PodFailurePolicyOnExitCodesRequirement,
): V1ContainerStatus | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find((status) => {
    const code = status.state?.terminated?.exitCode;
    if (code === undefined || code === 0) return false;
    if (containerName !== undefined && containerName !== status.name) return false;
    return operator === 'In' ? values.includes(code) : operator === 'NotIn' && !values.includes(code);
  });

const conditionMatch = (
  pod: Pod,
  patterns: readonly V1PodFailurePolicyOnPodConditionsPattern[],
): string | undefined =>
  pod.status?.conditions?.find((condition) =>
    patterns.some(
      (pattern) => condition.type === pattern.type && condition.status === (pattern.status ?? 'True'),
    ),
  )?.type;

/** What happened, when the rule is about it. */
const ruleMatch = (pod: Pod, rule: V1PodFailurePolicyRule): string | undefined => {
  const where = `${pod.metadata?.namespace}/${pod.metadata?.name}`;
  if (rule.onExitCodes) {
    const status = exitCodeMatch(pod, rule.onExitCodes);
    return (
      status &&
      `Container ${status.name} for pod ${where} failed with exit code ${status.state?.terminated?.exitCode}`
    );
  }
  const condition = conditionMatch(pod, rule.onPodConditions ?? []);
  return condition && `Pod ${where} has condition ${condition}`;
};

const ACTIONS = new Set(['Ignore', 'FailIndex', 'Count', 'FailJob']);

/** The first rule that fits decides; a failure that no rule speaks of counts. */
export const judgeFailure = (job: Job, pod: Pod): FailureVerdict => {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const what = ACTIONS.has(rule.action) ? ruleMatch(pod, rule) : undefined;
    if (what === undefined) continue;
    return {
      action: rule.action,
      isCounted: rule.action !== 'Ignore',
      failsJob: rule.action === 'FailJob' ? `${what} matching FailJob rule at index ${index}` : undefined,
    };
  }
  return COUNTED;
};

export const jobFailureMessage = (job: Job, pods: readonly Pod[]): string | undefined => {
  if (!job.spec?.podFailurePolicy) return undefined;
  for (const pod of pods) {
    const message = isPodFailed(pod, job) ? judgeFailure(job, pod).failsJob : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
};
