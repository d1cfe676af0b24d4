import { expect, test } from 'vitest';
import { fitErrorMessage } from '../../framework/fit-error.ts';
import type { Pod, PodVolume } from '../../model/objects.ts';
import type { PersistentVolumeClaim } from '../../model/volumes.ts';
import { makeHarness, type Harness } from '../../testing/harness.ts';
import { makeNode, makePod } from '../../testing/objects.ts';
import { volumeRestrictions } from './volume-restrictions.ts';

type Source = Omit<PodVolume, 'name'>;

const podWith = (name: string, source: Source, nodeName?: string): Pod =>
  makePod(name, { spec: { volumes: [{ name: 'v', ...source }], ...(nodeName && { nodeName }) } });

const outcome = async (harness: Harness, pod: Pod): Promise<string> => {
  const decision = await harness.decide(pod);
  if (decision.kind === 'placed') return decision.nodeName;
  return decision.kind === 'error' ? decision.status.reasons.join() : fitErrorMessage(decision.diagnosis);
};

const gce = (pdName: string, readOnly = false): Source => ({ gcePersistentDisk: { pdName, readOnly } });
const ebs = (volumeID: string): Source => ({ awsElasticBlockStore: { volumeID } });
const iscsi = (iqn: string, readOnly = false): Source => ({ iscsi: { iqn, readOnly } });
const rbd = (monitors: readonly string[], image: string, readOnly = false): Source => ({
  rbd: { monitors, pool: 'rbd', image, readOnly },
});
const NO_DISK = '0/1 nodes are available: 1 node(s) had no available disk.';

test.each<[string, Source, Source, string]>([
  ['a disk of GCE that is written', gce('d'), gce('d', true), NO_DISK],
  ['a disk of GCE that both read', gce('d', true), gce('d', true), 'n1'],
  ['another disk of GCE', gce('d'), gce('e'), 'n1'],
  ['a volume of EBS', ebs('d'), ebs('d'), NO_DISK],
  ['another volume of EBS', ebs('d'), ebs('e'), 'n1'],
  ['an iSCSI target that is written', iscsi('d', true), iscsi('d'), NO_DISK],
  ['an iSCSI target that both read', iscsi('d', true), iscsi('d', true), 'n1'],
  ['an image by one of its monitors', rbd(['a', 'b'], 'd'), rbd(['b', 'c'], 'd'), NO_DISK],
  ['an image of other monitors', rbd(['a'], 'd'), rbd(['c'], 'd'), 'n1'],
  ['an image that both read', rbd(['a'], 'd', true), rbd(['a'], 'd', true), 'n1'],
  ['disks of two kinds', gce('d'), ebs('d'), 'n1'],
])('pods of one node may share %s as far as it allows', async (_, there, wanted, expected) => {
  const harness = makeHarness();
  harness.addNodes([makeNode('n1')]);
  harness.addPods([podWith('there', there, 'n1')]);
  expect(await outcome(harness, podWith('p', wanted))).toBe(expected);
});

const claim = (name: string, mode: string): PersistentVolumeClaim => ({
  metadata: { namespace: 'default', name, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
  spec: { accessModes: [mode], volumeName: 'v' },
});
const usesClaim = (claimName: string): Source => ({ persistentVolumeClaim: { claimName } });
const claims = [claim('one', 'ReadWriteOncePod'), claim('many', 'ReadWriteOnce')];
const clusterWithClaims = (priority = 0): Harness => {
  const harness = makeHarness({
    lister: {
      claim: (_, name) => claims.find(({ metadata }) => metadata.name === name),
      volume: () => ({ metadata: { name: 'v' } }),
    },
  });
  harness.addNodes([makeNode('n1'), makeNode('n2')]);
  const there = podWith('there', usesClaim('one'), 'n1');
  harness.addPods([{ ...there, spec: { ...there.spec, priority } }]);
  harness.addPods([podWith('other', usesClaim('many'), 'n1')]);
  return harness;
};

test('a claim for one pod is used by one pod of the whole cluster', async () => {
  const harness = clusterWithClaims();
  expect([
    await outcome(harness, podWith('p', usesClaim('one'))),
    await outcome(harness, podWith('p', usesClaim('none'))),
    (await harness.decide(podWith('p', usesClaim('many')))).kind,
  ]).toEqual([
    '0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.',
    '0/2 nodes are available: persistentvolumeclaim "none" not found.',
    'placed',
  ]);
});

test('a claim for one pod is free again without the pod that has it', () => {
  const harness = clusterWithClaims();
  const { snapshot } = harness.newCycle();
  const slot = snapshot.slotOf('n1')!;
  const [there] = [...snapshot.entry(slot).pods.values()].filter(
    ({ claims: [key] }) => key === 'default/one',
  );
  expect(snapshot.claimUses.get('default/one')).toBe(1);
  snapshot.removePod(slot, there!);
  expect(snapshot.claimUses.has('default/one')).toBe(false);
});

test('a pod is tried again when the disk or the claim is given back, or the claim comes', () => {
  const [podDeleted, , claimAdded] = volumeRestrictions(makeHarness().handle.lister).eventsToRegister!();
  const waiting = podWith('p', { ...gce('d'), ...usesClaim('one') });
  expect([
    podDeleted?.hint?.(waiting, podWith('q', gce('d')), undefined),
    podDeleted?.hint?.(waiting, podWith('q', gce('e')), undefined),
    podDeleted?.hint?.(waiting, podWith('q', usesClaim('one')), undefined),
    claimAdded?.hint?.(waiting, undefined, claim('one', 'ReadWriteOncePod')),
    claimAdded?.hint?.(waiting, undefined, claim('many', 'ReadWriteOnce')),
  ]).toEqual(['Queue', 'QueueSkip', 'Queue', 'Queue', 'QueueSkip']);
});
