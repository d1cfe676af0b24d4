import { expect, test } from 'vitest';
import { manualClock, type ManualClock } from '../base/manual-clock.ts';
import type { KubernetesObject } from '../api/meta/index.ts';
import { EVERY_FIELD, EVERYTHING, parseLabelSelector } from '../api/selector/index.ts';
import { listOf, tableOf, type Resource } from './documents.ts';
import { MetricsServer } from './metrics-server.ts';
import { routeOf } from './serve.ts';

const OBJECTS: Readonly<Record<Resource, readonly KubernetesObject[]>> = {
  nodes: [{ metadata: { name: 'n1', labels: { zone: 'a' } } }],
  pods: [
    { metadata: { namespace: 'default', name: 'web', labels: { app: 'web' } } },
    { metadata: { namespace: 'default', name: 'new', labels: { app: 'web' } } },
  ],
};

/** A kubelet whose containers use a quarter of a core. */
const start = (clock: ManualClock): MetricsServer =>
  new MetricsServer(
    {
      list: (resource) => OBJECTS[resource],
      find: (resource, _namespace, name) => OBJECTS[resource].find(({ metadata }) => metadata?.name === name),
      scrape() {
        const timestampMs = clock.nowMs();
        const point = { startMs: 1, timestampMs, cpuCoreSeconds: timestampMs / 4000, memoryBytes: 65_536 };
        return Promise.resolve(
          new Map([['n1', { node: point, pods: new Map([['default/web', new Map([['app', point]])]]) }]]),
        );
      },
    },
    clock,
  );

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
};
const everything = { namespace: '', labels: EVERYTHING, fields: EVERY_FIELD };

/** What a question is answered, after the time between the first two samples. */
const asked = async <T>(clock: ManualClock, question: Promise<T>): Promise<T> => {
  await turns();
  clock.advance(1000);
  return question;
};

test('the first request waits for two samples; then samples are taken until five minutes after it', async () => {
  const clock = manualClock();
  const server = start(clock);
  expect([clock.pendingCount, server.scrapes]).toEqual([0, 0]);
  const items = await asked(clock, server.list({ resource: 'pods', ...everything }));
  expect([items.map(({ metadata }) => metadata?.name), server.scrapes]).toEqual([['web'], 2]);
  for (let second = 0; second < 400; second += 1) {
    clock.advance(1000);
    await turns();
  }
  expect([server.scrapes, clock.pendingCount]).toEqual([2 + 19, 0]);
  server.dispose();
});

test('metrics carry labels, time, window and canonical quantities', async () => {
  const clock = manualClock();
  const server = start(clock);
  const pod = await asked(clock, server.get('pods', 'default', 'web'));
  const node = await server.get('nodes', '', 'n1');
  expect({ pod, node }).toEqual({
    pod: {
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: {
        name: 'web',
        namespace: 'default',
        creationTimestamp: '2026-01-01T00:00:01Z',
        labels: { app: 'web' },
      },
      timestamp: '2026-01-01T00:00:01Z',
      window: '1s',
      containers: [{ name: 'app', usage: { cpu: '250m', memory: '64Ki' } }],
    },
    node: {
      kind: 'NodeMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: { name: 'n1', creationTimestamp: '2026-01-01T00:00:01Z', labels: { zone: 'a' } },
      timestamp: '2026-01-01T00:00:01Z',
      window: '1s',
      usage: { cpu: '250m', memory: '64Ki' },
    },
  });
  expect([listOf('nodes', [node!]), tableOf([pod!])]).toMatchObject([
    { kind: 'NodeMetricsList', items: [{ usage: { cpu: '250m' } }] },
    { rows: [{ cells: ['web', '250m', '64Ki', '1s'] }] },
  ]);
  server.dispose();
});

test('selectors apply to the labels of the object', async () => {
  const clock = manualClock();
  const server = start(clock);
  const found = await asked(
    clock,
    server.list({ resource: 'nodes', ...everything, labels: parseLabelSelector('zone=b') }),
  );
  expect([found, await server.get('pods', 'default', 'new')]).toEqual([[], undefined]);
  server.dispose();
});

test.each([
  ['/apis/metrics.k8s.io/v1beta1/nodes', { resource: 'nodes', namespace: '', name: '' }],
  ['/apis/metrics.k8s.io/v1beta1/nodes/n1', { resource: 'nodes', namespace: '', name: 'n1' }],
  ['/apis/metrics.k8s.io/v1beta1/pods', { resource: 'pods', namespace: '', name: '' }],
  ['/apis/metrics.k8s.io/v1beta1/namespaces/a/pods', { resource: 'pods', namespace: 'a', name: '' }],
  ['/apis/metrics.k8s.io/v1beta1/namespaces/a/pods/b', { resource: 'pods', namespace: 'a', name: 'b' }],
  ['/apis/metrics.k8s.io/v1beta1/namespaces/a/services', undefined],
  ['/apis/metrics.k8s.io/v1beta1/nodes/n1/proxy', undefined],
])('%s', (path, route) => {
  expect(routeOf(path)).toEqual(route);
});
