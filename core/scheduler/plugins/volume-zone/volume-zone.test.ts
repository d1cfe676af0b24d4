import { expect, test } from 'vitest';
import { fitErrorMessage } from '../../framework/fit-error.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../model/volumes.ts';
import { makeHarness } from '../../testing/harness.ts';
import { makeNode, makePod } from '../../testing/objects.ts';
import { volumeZone } from './volume-zone.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const OLD_ZONE = 'failure-domain.beta.kubernetes.io/zone';
type Labels = Readonly<Record<string, string>>;

const pod = makePod('p', {
  spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
});
const volume = (labels: Labels): PersistentVolume => ({ metadata: { name: 'v', labels } });
const claim = (volumeName?: string): PersistentVolumeClaim => ({
  metadata: { namespace: 'default', name: 'data', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
  spec: { accessModes: ['ReadWriteOnce'], ...(volumeName && { volumeName }) },
});

const outcome = async (volumeLabels: Labels | undefined, nodeLabels: Labels): Promise<string> => {
  const harness = makeHarness({
    lister: {
      claim: () => claim('v'),
      volume: () => volumeLabels && volume(volumeLabels),
    },
  });
  harness.addNodes([makeNode('n1', { labels: nodeLabels })]);
  const decision = await harness.decide(pod);
  if (decision.kind === 'placed') return decision.nodeName;
  return decision.kind === 'error' ? decision.status.reasons.join() : fitErrorMessage(decision.diagnosis);
};
const NO_ZONE = '0/1 nodes are available: 1 node(s) had no available volume zone.';

test.each<[string, Labels | undefined, Labels, string]>([
  ['in the zone of the volume', { [ZONE]: 'a' }, { [ZONE]: 'a' }, 'n1'],
  ['in another zone', { [ZONE]: 'a' }, { [ZONE]: 'b' }, NO_ZONE],
  ['in one of the zones of the volume', { [ZONE]: 'a__b' }, { [ZONE]: 'b' }, 'n1'],
  ['in the zone but not in the region', { [ZONE]: 'a', [REGION]: 'r' }, { [ZONE]: 'a' }, NO_ZONE],
  ['that knows its region alone', { [ZONE]: 'a' }, { [REGION]: 'r' }, NO_ZONE],
  ['without any zone', { [ZONE]: 'a' }, {}, 'n1'],
  ['in the zone that an old label names', { [OLD_ZONE]: 'a' }, { [ZONE]: 'a' }, 'n1'],
  ['in another zone than an old label names', { [OLD_ZONE]: 'a' }, { [ZONE]: 'b' }, NO_ZONE],
  ['when the label of the volume lists an empty zone', { [ZONE]: 'a__' }, { [ZONE]: 'b' }, 'n1'],
  ['when the volume has no zone', {}, { [ZONE]: 'b' }, 'n1'],
  ['when the volume is not there', undefined, {}, '0/1 nodes are available: persistentvolume "v" not found.'],
])('a node %s is judged as upstream does', async (_, volumeLabels, nodeLabels, expected) => {
  expect(await outcome(volumeLabels, nodeLabels)).toBe(expected);
});

test('a claim without a volume is judged by its class', () => {
  const { handle, newCycle } = makeHarness();
  const rejection = (storageClassName: string | undefined, volumeBindingMode?: string) => {
    const unbound = { ...claim(), spec: { ...(storageClassName && { storageClassName }) } };
    const plugin = volumeZone({
      ...handle.lister,
      claim: () => unbound,
      storageClass: (name) =>
        name === 'known'
          ? { metadata: { name }, ...(volumeBindingMode !== undefined && { volumeBindingMode }) }
          : undefined,
    });
    const info = { pod, claims: ['default/data'] } as unknown as Parameters<
      NonNullable<typeof plugin.preFilter>
    >[1];
    return plugin.preFilter!(newCycle(), info)?.status;
  };
  expect(
    [
      rejection(undefined),
      rejection('unknown'),
      rejection('known'),
      rejection('known', 'Immediate'),
      rejection('known', 'WaitForFirstConsumer'),
    ].map((status) => [status?.code, status?.reasons.join()]),
  ).toEqual([
    ['UnschedulableAndUnresolvable', 'PersistentVolumeClaim had no pv name and storageClass name'],
    ['UnschedulableAndUnresolvable', 'storageclass.storage.k8s.io "unknown" not found'],
    ['UnschedulableAndUnresolvable', 'VolumeBindingMode not set for StorageClass "known"'],
    ['UnschedulableAndUnresolvable', 'PersistentVolume had no name'],
    ['Skip', ''],
  ]);
});

test('a pod is tried again when a volume changes its zone, not when anything else of it does', () => {
  const events = volumeZone(makeHarness().handle.lister).eventsToRegister!();
  const hint = events.find(({ resource }) => resource === 'PersistentVolume')?.hint;
  const storageClass = events.find(({ resource }) => resource === 'StorageClass')?.hint;
  const claims = events.find(({ resource }) => resource === 'PersistentVolumeClaim')?.hint;
  expect([
    hint?.(pod, undefined, volume({})),
    hint?.(pod, volume({ [ZONE]: 'a' }), volume({ [ZONE]: 'b' })),
    hint?.(pod, volume({ [ZONE]: 'a' }), volume({ [ZONE]: 'a', other: 'x' })),
    storageClass?.(pod, undefined, { volumeBindingMode: 'Immediate' }),
    storageClass?.(pod, undefined, { volumeBindingMode: 'WaitForFirstConsumer' }),
    claims?.(pod, undefined, claim()),
    claims?.(pod, undefined, { metadata: { namespace: 'default', name: 'other' } }),
  ]).toEqual(['Queue', 'Queue', 'QueueSkip', 'QueueSkip', 'Queue', 'Queue', 'QueueSkip']);
});
