import {
  ensureObject,
  fill,
  fillPointers,
  listAt,
  objectAt,
  type Defaulter,
  type Fields,
} from './defaulter.ts';

const INT32_MAX = 2_147_483_647;

const deployment: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  const strategy = ensureObject(spec, 'strategy');
  fill(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate')
    fillPointers(ensureObject(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
  fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
};

const daemonSet: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  const strategy = ensureObject(spec, 'updateStrategy');
  fill(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate')
    fillPointers(ensureObject(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
  fill(spec, { revisionHistoryLimit: 10 });
};

const statefulSet: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  const strategy = ensureObject(spec, 'updateStrategy');
  if (!strategy['type']) {
    strategy['type'] = 'RollingUpdate';
    ensureObject(strategy, 'rollingUpdate');
  }
  const rolling = objectAt(strategy, 'rollingUpdate');
  if (strategy['type'] === 'RollingUpdate' && rolling) fill(rolling, { partition: 0 });
  fill(ensureObject(spec, 'persistentVolumeClaimRetentionPolicy'), {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  });
  fill(spec, { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 });
};

const job: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
  const template = objectAt(spec, 'template');
  const metadata = template && objectAt(template, 'metadata');
  const labels = metadata && objectAt(metadata, 'labels');
  if (labels) fill(ensureObject(value, 'metadata'), { labels: { ...labels } });
  fillPointers(spec, {
    parallelism: 1,
    backoffLimit: spec['backoffLimitPerIndex'] === undefined ? 6 : INT32_MAX,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
  });
};

const cronJob: Defaulter = (value) =>
  fill(ensureObject(value, 'spec'), {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });

const SCALE_PERIOD_SECONDS = 15;
const percentPolicy = { type: 'Percent', value: 100, periodSeconds: SCALE_PERIOD_SECONDS };
const podsPolicy = { type: 'Pods', value: 4, periodSeconds: SCALE_PERIOD_SECONDS };

const scalingRules = (behavior: Fields, direction: 'scaleUp' | 'scaleDown'): void => {
  const rules = ensureObject(behavior, direction);
  const up = direction === 'scaleUp';
  fillPointers(rules, {
    selectPolicy: 'Max',
    policies: up ? [{ ...podsPolicy }, { ...percentPolicy }] : [{ ...percentPolicy }],
    ...(up && { stabilizationWindowSeconds: 0 }),
  });
};

const horizontalPodAutoscaler: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  fill(spec, { minReplicas: 1 });
  if (listAt(spec, 'metrics').length === 0)
    spec['metrics'] = [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ];
  const behavior = objectAt(spec, 'behavior');
  if (!behavior) return;
  scalingRules(behavior, 'scaleUp');
  scalingRules(behavior, 'scaleDown');
};

export const WORKLOAD_DEFAULTERS: Readonly<Record<string, Defaulter>> = {
  'apps.v1.Deployment': deployment,
  'apps.v1.DaemonSet': daemonSet,
  'apps.v1.StatefulSet': statefulSet,
  'apps.v1.ReplicaSet': (value) => fill(ensureObject(value, 'spec'), { replicas: 1 }),
  'batch.v1.Job': job,
  'batch.v1.CronJob': cronJob,
  'batch.v1.PodFailurePolicyOnPodConditionsPattern': (value) => fill(value, { status: 'True' }),
  'autoscaling.v1.HorizontalPodAutoscaler': (value) => fill(ensureObject(value, 'spec'), { minReplicas: 1 }),
  'autoscaling.v2.HorizontalPodAutoscaler': horizontalPodAutoscaler,
  'scheduling.v1.PriorityClass': (value) => fillPointers(value, { preemptionPolicy: 'PreemptLowerPriority' }),
};
