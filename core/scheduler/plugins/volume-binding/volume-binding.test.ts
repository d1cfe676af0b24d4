import { expect, test } from 'vitest';
import { fitErrorMessage } from '../../framework/fit-error.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../model/volumes.ts';
import { ANNOTATION_BIND_COMPLETED } from '../../model/volumes.ts';
import { podInfoOf } from '../../model/pod-info.ts';
import { makeHarness, type Harness } from '../../testing/harness.ts';
import { makeNode, makePod } from '../../testing/objects.ts';

const claim = (volumeName?: string): PersistentVolumeClaim => ({
  metadata: {
    namespace: 'default',
    name: 'data',
    uid: 'claim',
    resourceVersion: '1',
    ...(volumeName && { annotations: { [ANNOTATION_BIND_COMPLETED]: 'yes' } }),
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    resources: { requests: { storage: '5Gi' } },
    ...(volumeName && { volumeName }),
  },
});

const volume = (name: string, node: string, storage: string): PersistentVolume => ({
  metadata: { name, resourceVersion: '1' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage },
    storageClassName: 'local',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
        ],
      },
    },
  },
  status: { phase: 'Available' },
});

const waitForConsumer: StorageClass = {
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};
const pod = makePod('p', {
  spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
});

const harnessWith = (
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[],
  storageClass: StorageClass = waitForConsumer,
): Harness => {
  const harness = makeHarness({
    // Looks for bound volumes before nodes are tried, and says that one is missing in its own words.
    profile: { plugins: { MultiPoint: { disabled: [{ name: 'VolumeZone' }] } } },
    lister: {
      claim: (_, name) => claims.find(({ metadata }) => metadata.name === name),
      volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
      volumes: () => volumes,
      storageClass: () => storageClass,
    },
  });
  harness.addNodes([makeNode('n1'), makeNode('n2')]);
  return harness;
};

const outcome = async (harness: Harness): Promise<string> => {
  const decision = await harness.decide(pod);
  if (decision.kind === 'placed') return decision.nodeName;
  return decision.kind === 'error' ? decision.status.reasons.join() : fitErrorMessage(decision.diagnosis);
};

test('a pod goes where its bound volume is', async () => {
  expect(await outcome(harnessWith([claim('v2')], [volume('v2', 'n2', '10Gi')]))).toBe('n2');
});

test('an unbound claim goes where a volume is large enough', async () => {
  const volumes = [volume('v1', 'n1', '1Gi'), volume('v2', 'n2', '10Gi')];
  expect(await outcome(harnessWith([claim()], volumes))).toBe('n2');
});

test('rejections are in upstream words', async () => {
  expect([
    await outcome(harnessWith([], [])),
    await outcome(harnessWith([claim()], [], { ...waitForConsumer, volumeBindingMode: 'Immediate' })),
    await outcome(harnessWith([claim()], [])),
    await outcome(harnessWith([claim('v2')], [])),
    await outcome(harnessWith([claim('v3')], [volume('v3', 'n3', '10Gi')])),
  ]).toEqual([
    '0/2 nodes are available: persistentvolumeclaim "data" not found.',
    '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
    "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
    '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
    "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.",
  ]);
});

test('a volume reserved for one claim is not offered to another until it is given back', async () => {
  const second: PersistentVolumeClaim = {
    ...claim(),
    metadata: { namespace: 'default', name: 'second', uid: 'second', resourceVersion: '1' },
  };
  const harness = harnessWith([claim(), second], [volume('v1', 'n1', '10Gi')]);
  const cycle = harness.newCycle();
  const info = podInfoOf(pod);
  await harness.algorithm.decide(harness.framework, cycle, info, { keepRaw: false, moveStart: false });
  harness.framework.reserve(cycle, info, 'n1');
  const other = makePod('q', {
    spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'second' } }] },
  });
  const reserved = await harness.decide(other);
  harness.framework.unreserve(cycle, info, 'n1');
  const given = await harness.decide(other);
  expect([reserved.kind, given.kind]).toEqual(['unschedulable', 'placed']);
});
