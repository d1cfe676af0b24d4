import { expect, test } from 'vitest';
import { fitErrorMessage } from '../../framework/fit-error.ts';
import type { Pod, PodVolume } from '../../model/objects.ts';
import type { CsiNode, PersistentVolume, PersistentVolumeClaim } from '../../model/volumes.ts';
import { makeHarness } from '../../testing/harness.ts';
import { makeNode, makePod } from '../../testing/objects.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';

type Source = Omit<PodVolume, 'name'>;
const DRIVER = 'csi.example.com';

const podWith = (name: string, sources: readonly Source[], nodeName?: string): Pod =>
  makePod(name, {
    spec: {
      volumes: sources.map((source, at) => ({ name: `v${at}`, ...source })),
      ...(nodeName && { nodeName }),
    },
  });
const usesClaim = (claimName: string): Source => ({ persistentVolumeClaim: { claimName } });
const ebs = (volumeID: string): Source => ({ awsElasticBlockStore: { volumeID } });

/** Every claim is there but `none`; those that begin with `new` wait for a volume of the class. */
const claim = (name: string): PersistentVolumeClaim => {
  const isNew = name.startsWith('new');
  return {
    metadata: {
      namespace: 'default',
      name,
      ...(!isNew && { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    },
    spec: { storageClassName: 'csi', ...(!isNew && { volumeName: `pv-${name}` }) },
  };
};
const volume = (name: string): PersistentVolume => ({
  metadata: { name },
  spec: name.startsWith('pv-local') ? {} : { csi: { driver: DRIVER, volumeHandle: name } },
});
const csiNode = (count: number | undefined, migrated = ''): CsiNode => ({
  metadata: { name: 'n1', annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': migrated } },
  spec: {
    drivers: [
      { name: DRIVER, ...(count !== undefined && { allocatable: { count } }) },
      { name: 'ebs.csi.aws.com', allocatable: { count: 1 } },
    ],
  },
});

const outcome = async (there: Pod, wanted: Pod, node: CsiNode | undefined): Promise<string> => {
  const harness = makeHarness({
    lister: {
      claim: (_, name) => (name === 'none' ? undefined : claim(name)),
      volume: (name) => (name === '' ? undefined : volume(name)),
      storageClass: (name) => ({
        metadata: { name },
        provisioner: DRIVER,
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
      csiNode: () => node,
    },
  });
  harness.addNodes([makeNode('n1')]);
  harness.addPods([there]);
  const decision = await harness.decide(wanted);
  if (decision.kind === 'placed') return decision.nodeName;
  return decision.kind === 'error' ? decision.status.reasons.join() : fitErrorMessage(decision.diagnosis);
};
const FULL = '0/1 nodes are available: 1 node(s) exceed max volume count.';
const [A, B, C] = [usesClaim('a'), usesClaim('b'), usesClaim('c')];

test.each<[string, readonly Source[], readonly Source[], CsiNode | undefined, string]>([
  ['a volume more than the driver attaches', [A, B], [C], csiNode(2), FULL],
  ['as many volumes as the driver attaches', [A, B], [C], csiNode(3), 'n1'],
  ['a volume that is attached already', [A, B], [B], csiNode(2), 'n1'],
  ['two volumes where one has room', [A], [B, C], csiNode(2), FULL],
  ['one volume twice', [A], [B, B], csiNode(2), 'n1'],
  ['a driver without a limit', [A, B], [C], csiNode(undefined), 'n1'],
  ['a node that tells nothing', [A, B], [C], undefined, 'n1'],
  ['volumes that are yet to be made', [A], [usesClaim('new1'), usesClaim('new2')], csiNode(2), FULL],
  ['a pod of the node whose claim is gone', [usesClaim('none'), A], [B], csiNode(2), 'n1'],
  ['volumes that no driver attaches', [A, B], [usesClaim('local')], csiNode(2), 'n1'],
  ['disks that the driver serves here', [ebs('a')], [ebs('b')], csiNode(9, 'kubernetes.io/aws-ebs'), FULL],
  ['disks that the driver does not serve here', [ebs('a')], [ebs('b')], csiNode(9), 'n1'],
])('%s', async (_, there, wanted, node, expected) => {
  expect(await outcome(podWith('there', there, 'n1'), podWith('p', wanted), node)).toBe(expected);
});

test('a pod waits for its claim; a pod without volumes is not looked at', () => {
  const { handle, newCycle } = makeHarness();
  const plugin = nodeVolumeLimits(handle.lister, handle.random);
  const codeOf = (pod: Pod) =>
    plugin.preFilter!(newCycle(), { pod } as Parameters<NonNullable<typeof plugin.preFilter>>[1])?.status
      ?.code;
  const events = plugin.eventsToRegister!();
  const added = events.find(({ resource }) => resource === 'PersistentVolumeClaim')?.hint;
  const deleted = events.find(({ resource }) => resource === 'AssignedPod')?.hint;
  const changed = events.find(({ resource, hint }) => resource === 'CSINode' && hint)?.hint;
  const waiting = podWith('p', [A, { ephemeral: {} }]);
  expect([
    codeOf(podWith('p', [])),
    codeOf(waiting),
    added?.(waiting, undefined, claim('a')),
    added?.(waiting, undefined, claim('p-v1')),
    added?.(waiting, undefined, claim('b')),
    deleted?.(waiting, podWith('q', [B]), undefined),
    deleted?.(waiting, podWith('q', []), undefined),
    changed?.(waiting, csiNode(2), csiNode(3)),
    changed?.(waiting, csiNode(3), csiNode(2)),
  ]).toEqual(['Skip', undefined, 'Queue', 'Queue', 'QueueSkip', 'Queue', 'QueueSkip', 'Queue', 'QueueSkip']);
});
