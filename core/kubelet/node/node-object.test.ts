import { expect, test } from 'vitest';
import { isStatusNews, nodeStatus, type NodeStatusInput } from './node-object.ts';

const INPUT: NodeStatusInput = {
  identity: {
    name: 'n1',
    hostIP: '127.79.0.1',
    capacity: { cpu: '8', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' },
    kubeletPort: 10250,
    kubeletVersion: 'v1.36.0',
    runtimeVersion: 'simulated://1.0.0',
  },
  before: undefined,
  images: [],
  health: {},
  now: '2026-01-01T00:00:00Z',
  bootID: 'boot-1',
};

/** As a server answers: fields by name, empty lists left out, conditions of others among them. */
const answered = () => {
  const { images: _, ...status } = nodeStatus(INPUT);
  return {
    ...status,
    capacity: Object.fromEntries(Object.entries(status.capacity ?? {}).sort()),
    allocatable: Object.fromEntries(Object.entries(status.allocatable ?? {}).sort()),
    conditions: [
      { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' },
      ...[...(status.conditions ?? [])].reverse(),
    ],
  };
};

test('defaults added by a server are not a change', () => {
  const before = answered();
  expect(isStatusNews(before, nodeStatus({ ...INPUT, before, now: '2026-01-01T00:00:10Z' }))).toBe(false);
});

test('a problem, an image, a boot and another release are news', () => {
  const before = answered();
  const image = { image: 'web:1', imageID: 'web@sha256:1', sizeBytes: 1 };
  const changes: readonly Partial<NodeStatusInput>[] = [
    { health: { problem: 'the runtime is down' } },
    { images: [image] },
    { bootID: 'boot-2' },
    { identity: { ...INPUT.identity, kubeletVersion: 'v1.35.0' } },
  ];
  expect(changes.map((change) => isStatusNews(before, nodeStatus({ ...INPUT, before, ...change })))).toEqual([
    true,
    true,
    true,
    true,
  ]);
});
