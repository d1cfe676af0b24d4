import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { formatTime } from '../../api/meta/index.ts';
import {
  DEPLOYMENT,
  HORIZONTAL_POD_AUTOSCALER,
  POD,
  type HorizontalPodAutoscaler,
  type Kind,
} from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { horizontalPodAutoscalerController } from './hpa-controller.ts';

const POD_METRICS: Kind<KubernetesObject> = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kind: 'PodMetrics',
  plural: 'pods',
  namespaced: true,
};
const LABELS = { app: 'web' };

/** A deployment of pods that use so many thousandths of the core they request. */
const workload = (milliCores: readonly number[]): FakeApi => {
  const api = new FakeApi();
  api.define(POD_METRICS);
  const now = formatTime(api.clock.nowMs() - 3_600_000);
  api.seed(DEPLOYMENT, {
    metadata: { name: 'web' },
    spec: {
      replicas: milliCores.length,
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: { containers: [{ name: 'app' }] } },
    },
    status: { replicas: milliCores.length },
  });
  milliCores.forEach((used, i) => {
    const name = `web-${i}`;
    api.seed(POD, {
      metadata: { name, labels: LABELS },
      spec: { containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }] },
      status: {
        phase: 'Running',
        startTime: now,
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
      },
    });
    api.seed(POD_METRICS, {
      metadata: { name, labels: LABELS },
      timestamp: formatTime(api.clock.nowMs()),
      window: '15s',
      containers: [{ name: 'app', usage: { cpu: `${used}m` } }],
    });
  });
  return api;
};

const hpa = (spec: Partial<HorizontalPodAutoscaler['spec']> = {}): HorizontalPodAutoscaler => ({
  metadata: { name: 'web' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
    ],
    ...spec,
  },
});

const run = async (api: FakeApi, object: HorizontalPodAutoscaler) => {
  api.seed(HORIZONTAL_POD_AUTOSCALER, object);
  const running = await startOnFake(api, horizontalPodAutoscalerController);
  await running.stop();
  const { status } = api.find(HORIZONTAL_POD_AUTOSCALER, 'web', 'default')!;
  return {
    events: running.events,
    replicas: api.find(DEPLOYMENT, 'web', 'default')?.spec?.replicas,
    status,
    conditions: status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`),
  };
};

test('a busy workload is scaled up, with upstream’s event, conditions and status', async () => {
  const { events, replicas, status, conditions } = await run(workload([900, 900]), hpa());
  expect({ events, replicas, conditions }).toEqual({
    events: [
      'Normal SuccessfulRescale default/web: New size: 4; reason: cpu resource utilization (percentage of request) above target',
    ],
    replicas: 4,
    conditions: [
      'AbleToScale=True SucceededRescale',
      'ScalingActive=True ValidMetricFound',
      'ScalingLimited=False DesiredWithinRange',
    ],
  });
  expect(status).toMatchObject({
    currentReplicas: 2,
    desiredReplicas: 4,
    lastScaleTime: '2026-01-01T00:00:00Z',
    currentMetrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '900m' } },
      },
    ],
  });
});

test('an idle workload is not scaled down while an earlier size holds', async () => {
  const { replicas, conditions } = await run(workload([10, 10, 10]), hpa());
  expect([replicas, conditions?.[0]]).toEqual([3, 'AbleToScale=True ScaleDownStabilized']);
});

test('with a window of zero it is scaled down immediately, as far as policies allow', async () => {
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }],
    },
    scaleDown: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
    },
  };
  const { replicas, events } = await run(workload([10, 10, 10]), hpa({ behavior }));
  expect([replicas, events]).toEqual([
    2,
    ['Normal SuccessfulRescale default/web: New size: 2; reason: All metrics below target'],
  ]);
});

test('a target that is not there is named in event and condition', async () => {
  const api = workload([1]);
  const { events, conditions } = await run(
    api,
    hpa({ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'gone' } }),
  );
  expect([events, conditions]).toEqual([
    ['Warning FailedGetScale default/web: deployments.apps "gone" not found'],
    ['AbleToScale=False FailedGetScale'],
  ]);
});

test('without metrics nothing is scaled, and both events say why', async () => {
  const { events, replicas, conditions } = await run(
    workload([900]),
    hpa({
      metrics: [
        { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '5' } } },
      ],
    }),
  );
  expect([replicas, conditions]).toEqual([
    1,
    ['AbleToScale=True SucceededGetScale', 'ScalingActive=False FailedGetExternalMetric'],
  ]);
  expect(events.map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
    'Warning FailedGetExternalMetric',
    'Warning FailedComputeMetricsReplicas',
  ]);
});

test('more replicas than the maximum are taken back without a metric, and none are left alone', async () => {
  expect([
    (await run(workload([1, 1, 1]), hpa({ maxReplicas: 2 }))).replicas,
    (await run(workload([]), hpa())).conditions,
  ]).toEqual([2, ['AbleToScale=True SucceededGetScale', 'ScalingActive=False ScalingDisabled']]);
});

test('two autoscalers of the same pods are refused', async () => {
  const api = workload([900]);
  api.seed(HORIZONTAL_POD_AUTOSCALER, { ...hpa(), metadata: { name: 'other' } });
  const { conditions, events } = await run(api, hpa());
  expect(conditions).toContain('ScalingActive=False AmbiguousSelector');
  expect(events).toContain(
    'Warning AmbiguousSelector default/web: pods by selector app=web are controlled by multiple HPAs: [{other default} {web default}]',
  );
});
