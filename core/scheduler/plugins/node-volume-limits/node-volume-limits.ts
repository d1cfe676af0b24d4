import type { Random } from '../../../base/random.ts';
import { ACTION } from '../../framework/cluster-event.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { failed, skip, unresolvable, unschedulable, type Status } from '../../framework/status.ts';
import type { Pod, PodVolume } from '../../model/objects.ts';
import { classOfClaim, type CsiNode, type PersistentVolumeClaim } from '../../model/volumes.ts';
import { NODE_VOLUME_LIMITS } from '../../framework/plugin-names.ts';
import { csiVolumeOf, driverOf, isInTree, type CsiVolume } from './in-tree-volumes.ts';

const EXCEEDED = unschedulable(NODE_VOLUME_LIMITS, 'node(s) exceed max volume count');
const SKIP = { status: skip(NODE_VOLUME_LIMITS) };

/** Drivers by the volumes that they attach. */
type Attached = Map<string, string>;

const isAttachable = (volume: PodVolume): boolean =>
  volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined || isInTree(volume);

const hasAttachable = ({ spec }: Pod): boolean => spec.volumes?.some(isAttachable) ?? false;

const claimNameOf = (pod: Pod, volume: PodVolume): string | undefined =>
  volume.persistentVolumeClaim?.claimName ??
  (volume.ephemeral ? `${pod.metadata.name}-${volume.name}` : undefined);

/** No more volumes of a driver on a node than its CSINode says that the driver can attach there. */
export const nodeVolumeLimits = (lister: ClusterLister, random: Random): Plugin => {
  // Volumes that are still to be made have no handle of their own; theirs must not be that of a real one.
  const unmadePrefix = Math.floor(random.next() * 2 ** 32).toString(32);

  const unmadeVolume = (
    claim: PersistentVolumeClaim,
    node: CsiNode | undefined,
  ): Partial<CsiVolume> | undefined => {
    const provisioner = lister.storageClass(classOfClaim(claim))?.provisioner;
    if (!provisioner) return undefined;
    const { namespace, name } = claim.metadata;
    const driver = driverOf(provisioner, node);
    return driver ? { driver, handle: `${unmadePrefix}-${namespace}/${name}` } : undefined;
  };

  const volumeOfClaim = (
    claim: PersistentVolumeClaim,
    node: CsiNode | undefined,
  ): Partial<CsiVolume> | undefined => {
    // One that is not there was deleted, or is not there yet: counted by the class.
    const spec = lister.volume(claim.spec?.volumeName ?? '')?.spec;
    if (!spec) return unmadeVolume(claim, node);
    if (spec.csi) return { driver: spec.csi.driver, handle: spec.csi.volumeHandle };
    return csiVolumeOf(spec, node);
  };

  /** Adds what the pod attaches; only a pod that is yet to run must have all its claims. */
  const collect = (
    pod: Pod,
    node: CsiNode | undefined,
    into: Attached,
    options: { readonly isNew: boolean },
  ): Status | undefined => {
    const { namespace = '', name: podName, uid } = pod.metadata;
    for (const volume of pod.spec.volumes ?? []) {
      const claimName = claimNameOf(pod, volume);
      let found: Partial<CsiVolume> | undefined;
      if (claimName === undefined) found = csiVolumeOf(volume, node);
      else if (claimName === '') return failed(NODE_VOLUME_LIMITS, 'PersistentVolumeClaim had no name');
      else {
        const claim = lister.claim(namespace, claimName);
        if (!claim) {
          if (!options.isNew) continue;
          const what = `looking up PVC ${namespace}/${claimName}`;
          return unresolvable(NODE_VOLUME_LIMITS, `${what}: persistentvolumeclaim "${claimName}" not found`);
        }
        if (volume.ephemeral && !claim.metadata.ownerReferences?.some((owner) => owner.uid === uid))
          return failed(
            NODE_VOLUME_LIMITS,
            `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`,
          );
        found = volumeOfClaim(claim, node);
      }
      if (found?.driver && found.handle) into.set(`${found.driver}/${found.handle}`, found.driver);
    }
    return undefined;
  };

  return {
    name: NODE_VOLUME_LIMITS,
    preFilter: (_, { pod }) => (hasAttachable(pod) ? undefined : SKIP),
    filter(cycle, { pod }, slot) {
      const { name, pods } = cycle.snapshot.entry(slot);
      const node = lister.csiNode(name);
      const wanted: Attached = new Map();
      const rejection = collect(pod, node, wanted, { isNew: true });
      if (rejection) return rejection;
      const limits = new Map(
        node?.spec?.drivers?.flatMap(({ name: driver, allocatable }) =>
          allocatable?.count === undefined ? [] : [[driver, allocatable.count] as const],
        ),
      );
      if (wanted.size === 0 || limits.size === 0) return undefined;
      const attached: Attached = new Map();
      for (const other of pods.values()) {
        const failure = collect(other.pod, node, attached, { isNew: false });
        if (failure) return failure;
      }
      // A volume that several pods use is attached once.
      const counts = new Map<string, number>();
      for (const driver of new Map([...attached, ...wanted]).values())
        counts.set(driver, (counts.get(driver) ?? 0) + 1);
      for (const [volume, driver] of wanted)
        if (!attached.has(volume) && counts.get(driver)! > (limits.get(driver) ?? Infinity)) return EXCEEDED;
      return undefined;
    },
    eventsToRegister: () => [
      { resource: 'CSINode', action: ACTION.add },
      {
        resource: 'CSINode',
        action: ACTION.updateOther,
        hint: (_pod, before, after) =>
          hasMoreRoom(before as CsiNode, after as CsiNode) ? 'Queue' : 'QueueSkip',
      },
      {
        resource: 'AssignedPod',
        action: ACTION.delete,
        hint: (_pod, deleted) => (hasAttachable(deleted as Pod) ? 'Queue' : 'QueueSkip'),
      },
      {
        resource: 'PersistentVolumeClaim',
        action: ACTION.add,
        hint(pod, _before, added) {
          const { namespace, name } = (added as PersistentVolumeClaim).metadata;
          const isOfPod =
            namespace === pod.metadata.namespace &&
            pod.spec.volumes?.some((volume) => claimNameOf(pod, volume) === name);
          return isOfPod ? 'Queue' : 'QueueSkip';
        },
      },
    ],
  };
};

const hasMoreRoom = (before: CsiNode, after: CsiNode): boolean =>
  after.spec?.drivers?.some(({ name, allocatable }) => {
    const earlier = before.spec?.drivers?.find((driver) => driver.name === name);
    return (allocatable?.count ?? Infinity) > (earlier?.allocatable?.count ?? Infinity) || !earlier;
  }) ?? false;
