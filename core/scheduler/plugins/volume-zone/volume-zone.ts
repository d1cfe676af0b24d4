import { ACTION, ACTION_UPDATE } from '../../framework/cluster-event.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { skip, unresolvable, type Status } from '../../framework/status.ts';
import { LABEL_REGION, LABEL_ZONE, type Pod } from '../../model/objects.ts';
import {
  classOfClaim,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '../../model/volumes.ts';
import { VOLUME_ZONE } from '../../framework/plugin-names.ts';

const CONFLICT = unresolvable(VOLUME_ZONE, 'node(s) had no available volume zone');
const SKIP = { status: skip(VOLUME_ZONE) };
/** Each with the label that has followed it. */
const TOPOLOGY_LABELS: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', LABEL_ZONE],
  ['failure-domain.beta.kubernetes.io/region', LABEL_REGION],
  [LABEL_ZONE, LABEL_ZONE],
  [LABEL_REGION, LABEL_REGION],
]);
const ZONES_SEPARATOR = '__';

interface Topology {
  readonly key: string;
  readonly values: readonly string[];
}

const STATE = stateKey<readonly Topology[]>(VOLUME_ZONE);

/** What a node must be labelled with to reach the volume. A label that lists an empty zone says nothing. */
const topologiesOf = ({ metadata }: PersistentVolume): readonly Topology[] =>
  [...TOPOLOGY_LABELS.keys()].flatMap((key) => {
    const values = metadata.labels?.[key]?.split(ZONES_SEPARATOR).map((zone) => zone.trim());
    return values && !values.includes('') ? [{ key, values }] : [];
  });

const claimNames = ({ spec }: Pod): readonly string[] =>
  spec.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []) ?? [];

const reject = (message: string): Status => unresolvable(VOLUME_ZONE, message);

/** Of the volumes that the claim has; none of one that waits for a node. */
const topologiesOfClaim = (
  claim: PersistentVolumeClaim,
  lister: ClusterLister,
): readonly Topology[] | Status => {
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName !== '') {
    const volume = lister.volume(volumeName);
    return volume ? topologiesOf(volume) : reject(`persistentvolume "${volumeName}" not found`);
  }
  const className = classOfClaim(claim);
  if (className === '') return reject('PersistentVolumeClaim had no pv name and storageClass name');
  const storageClass = lister.storageClass(className);
  if (!storageClass) return reject(`storageclass.storage.k8s.io "${className}" not found`);
  if (storageClass.volumeBindingMode === undefined)
    return reject(`VolumeBindingMode not set for StorageClass "${className}"`);
  return storageClass.volumeBindingMode === 'WaitForFirstConsumer'
    ? []
    : reject('PersistentVolume had no name');
};

const topologiesOfPod = (pod: Pod, lister: ClusterLister): readonly Topology[] | Status => {
  const topologies: Topology[] = [];
  for (const name of claimNames(pod)) {
    if (name === '') return reject('PersistentVolumeClaim had no name');
    const claim = lister.claim(pod.metadata.namespace ?? '', name);
    if (!claim) return reject(`persistentvolumeclaim "${name}" not found`);
    const found = topologiesOfClaim(claim, lister);
    if ('code' in found) return found;
    topologies.push(...found);
  }
  return topologies;
};

/** Lets a pod only to nodes in the zones and regions that its volumes are labelled with. */
export const volumeZone = (lister: ClusterLister): Plugin => ({
  name: VOLUME_ZONE,
  preFilter(cycle, { pod, claims }) {
    if (claims.length === 0) return SKIP;
    const topologies = topologiesOfPod(pod, lister);
    if ('code' in topologies) return { status: topologies };
    if (topologies.length === 0) return SKIP;
    cycle.write(STATE, topologies);
    return undefined;
  },
  filter(cycle, _, slot) {
    const labels = cycle.snapshot.entry(slot).node.metadata.labels ?? {};
    // Clusters of one zone may leave its label out.
    if (![...TOPOLOGY_LABELS.keys()].some((key) => labels[key] !== undefined)) return undefined;
    const isReached = ({ key, values }: Topology): boolean => {
      const value = labels[key] ?? labels[TOPOLOGY_LABELS.get(key)!];
      return value !== undefined && values.includes(value);
    };
    return cycle.mustRead(STATE).every(isReached) ? undefined : CONFLICT;
  },
  eventsToRegister: () => [
    {
      resource: 'StorageClass',
      action: ACTION.add,
      hint: (_pod, _before, added) =>
        (added as StorageClass).volumeBindingMode === 'WaitForFirstConsumer' ? 'Queue' : 'QueueSkip',
    },
    { resource: 'Node', action: ACTION.add | ACTION.updateNodeLabel },
    {
      resource: 'PersistentVolumeClaim',
      action: ACTION.add | ACTION_UPDATE,
      hint(pod, _before, after) {
        const { metadata } = after as PersistentVolumeClaim;
        const isOfPod =
          metadata.namespace === pod.metadata.namespace && claimNames(pod).includes(metadata.name ?? '');
        return isOfPod ? 'Queue' : 'QueueSkip';
      },
    },
    {
      resource: 'PersistentVolume',
      action: ACTION.add | ACTION_UPDATE,
      hint(_pod, before, after) {
        if (before === undefined) return 'Queue';
        const text = (volume: unknown): string => JSON.stringify(topologiesOf(volume as PersistentVolume));
        return text(before) === text(after) ? 'QueueSkip' : 'Queue';
      },
    },
  ],
});
