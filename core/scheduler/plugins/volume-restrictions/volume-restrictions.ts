import { ACTION } from '../../framework/cluster-event.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { skip, unresolvable, unschedulable, type Status } from '../../framework/status.ts';
import type { Pod } from '../../model/objects.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import type { PersistentVolumeClaim } from '../../model/volumes.ts';
import { VOLUME_RESTRICTIONS } from '../../framework/plugin-names.ts';
import { disksConflict, hasDisks } from './disks.ts';

const DISK_CONFLICT = unschedulable(VOLUME_RESTRICTIONS, 'node(s) had no available disk');
const CLAIM_CONFLICT = unschedulable(
  VOLUME_RESTRICTIONS,
  'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
);
const SKIP = { status: skip(VOLUME_RESTRICTIONS) };
const ONE_POD = 'ReadWriteOncePod';

interface State {
  readonly hasDisks: boolean;
  /** Claims of the pod that only one pod in the cluster may use: `namespace/name`. */
  readonly exclusiveClaims: readonly string[];
}

const STATE = stateKey<State>(VOLUME_RESTRICTIONS);

const exclusiveClaims = (pod: PodInfo, lister: ClusterLister): readonly string[] | Status => {
  const exclusive: string[] = [];
  for (const key of pod.claims) {
    const name = key.slice(pod.namespace.length + 1);
    const claim = lister.claim(pod.namespace, name);
    if (!claim) return unresolvable(VOLUME_RESTRICTIONS, `persistentvolumeclaim "${name}" not found`);
    if (claim.spec?.accessModes?.includes(ONE_POD)) exclusive.push(key);
  }
  return exclusive;
};

const usesClaim = ({ metadata, spec }: Pod, claim: string): boolean =>
  spec.volumes?.some(
    ({ persistentVolumeClaim }) =>
      persistentVolumeClaim && `${metadata.namespace}/${persistentVolumeClaim.claimName}` === claim,
  ) ?? false;

const shareClaim = (a: Pod, b: Pod): boolean =>
  a.spec.volumes?.some(
    ({ persistentVolumeClaim }) =>
      persistentVolumeClaim && usesClaim(b, `${a.metadata.namespace}/${persistentVolumeClaim.claimName}`),
  ) ?? false;

/** Keeps pods apart that cannot use one disk at a time, on a node or, with ReadWriteOncePod, at all. */
export const volumeRestrictions = (lister: ClusterLister): Plugin => ({
  name: VOLUME_RESTRICTIONS,
  preFilter(cycle, pod) {
    if (!pod.pod.spec.volumes?.length) return SKIP;
    const exclusive = exclusiveClaims(pod, lister);
    if ('code' in exclusive) return { status: exclusive };
    const { claimUses } = cycle.snapshot;
    const state = { hasDisks: hasDisks(pod.pod), exclusiveClaims: exclusive };
    if (!state.hasDisks && !exclusive.some((claim) => claimUses.has(claim))) return SKIP;
    cycle.write(STATE, state);
    return undefined;
  },
  filter(cycle, pod, slot) {
    const { snapshot } = cycle;
    const state = cycle.mustRead(STATE);
    if (state.hasDisks)
      for (const other of snapshot.entry(slot).pods.values())
        if (disksConflict(pod.pod, other.pod)) return DISK_CONFLICT;
    return state.exclusiveClaims.some((claim) => snapshot.claimUses.has(claim)) ? CLAIM_CONFLICT : undefined;
  },
  eventsToRegister: () => [
    {
      resource: 'AssignedPod',
      action: ACTION.delete,
      hint: (pod, before) =>
        disksConflict(pod, before as Pod) || shareClaim(pod, before as Pod) ? 'Queue' : 'QueueSkip',
    },
    { resource: 'Node', action: ACTION.add },
    {
      resource: 'PersistentVolumeClaim',
      action: ACTION.add,
      hint(pod, _, added) {
        const { metadata } = added as PersistentVolumeClaim;
        return usesClaim(pod, `${metadata.namespace}/${metadata.name}`) ? 'Queue' : 'QueueSkip';
      },
    },
  ],
});
