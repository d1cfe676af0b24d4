import type { Snapshot } from '../../cache/snapshot.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import { unresolvable, type Status } from '../../framework/status.ts';
import { compileNodeSelector, type SlotMatcher } from '../../cache/node-selector.ts';
import { amountOf } from '../../model/resources.ts';
import { compiledSelector } from '../../model/selectors.ts';
import {
  ANNOTATION_SELECTED_NODE,
  NO_PROVISIONER,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '../../model/volumes.ts';
import { VOLUME_BINDING } from '../../framework/plugin-names.ts';
import type { VolumeAssumptions } from './assumptions.ts';
import { findVolume, requestedBytes } from './match-volume.ts';
import type { PodClaims } from './pod-claims.ts';

export interface NodeVolumes {
  readonly bindings: readonly {
    readonly volume: PersistentVolume;
    readonly claim: PersistentVolumeClaim;
  }[];
  readonly provisions: readonly PersistentVolumeClaim[];
}

const NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity";
const BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind";
const NOT_ENOUGH_SPACE = 'node(s) did not have enough free storage';
const NO_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';

type ProvisionAnswer = 'yes' | 'conflict' | 'space';

/** Answers, for the pod of one cycle, which volumes each node would use. */
export const volumeFinder = (
  snapshot: Snapshot,
  claims: PodClaims,
  assumptions: VolumeAssumptions,
  lister: ClusterLister,
): ((slot: number) => NodeVolumes | Status) => {
  const matchers = new Map<string, SlotMatcher>();
  const reaches = (volume: PersistentVolume, slot: number): boolean => {
    const required = volume.spec?.nodeAffinity?.required;
    if (!required) return true;
    const name = volume.metadata.name ?? '';
    let matches = matchers.get(name);
    if (!matches) matchers.set(name, (matches = compileNodeSelector(snapshot, required)));
    return matches(slot);
  };
  const bySize = [...claims.delayed].sort((a, b) => requestedBytes(a) - requestedBytes(b));
  const boundVolumes = claims.bound.map(({ spec }) => assumptions.volume(spec?.volumeName ?? ''));
  const volumesOf = new Map(
    bySize.map(({ spec }) => {
      const name = spec?.storageClassName ?? '';
      return [name, assumptions.volumesOfClass(name)] as const;
    }),
  );

  const canProvision = (claim: PersistentVolumeClaim, slot: number): ProvisionAnswer => {
    const storageClass = lister.storageClass(claim.spec?.storageClassName ?? '');
    if (!storageClass?.provisioner || storageClass.provisioner === NO_PROVISIONER) return 'conflict';
    const { labels } = snapshot.entry(slot).node.metadata;
    const { allowedTopologies } = storageClass;
    const isAllowed =
      !allowedTopologies?.length ||
      allowedTopologies.some(({ matchLabelExpressions = [] }) =>
        matchLabelExpressions.every(
          ({ key, values }) => labels?.[key] !== undefined && values.includes(labels[key]),
        ),
      );
    if (!isAllowed) return 'conflict';
    return hasCapacity(claim, storageClass, labels) ? 'yes' : 'space';
  };

  const hasCapacity = (
    claim: PersistentVolumeClaim,
    storageClass: StorageClass,
    labels: Readonly<Record<string, string>> | undefined,
  ): boolean => {
    if (!lister.csiDriver(storageClass.provisioner ?? '')?.spec?.storageCapacity) return true;
    return lister
      .csiStorageCapacities()
      .some(
        (capacity) =>
          capacity.storageClassName === storageClass.metadata.name &&
          amountOf('storage', capacity.maximumVolumeSize ?? capacity.capacity) >= requestedBytes(claim) &&
          capacity.nodeTopology !== undefined &&
          compiledSelector(capacity.nodeTopology).matches(labels),
      );
  };

  return (slot) => {
    const reasons: string[] = [];
    if (boundVolumes.some((volume) => volume === undefined)) reasons.push(NO_VOLUME);
    else if (!boundVolumes.every((volume) => reaches(volume!, slot))) reasons.push(NODE_CONFLICT);
    const bindings: NodeVolumes['bindings'][number][] = [];
    const provisions: PersistentVolumeClaim[] = [];
    const chosen = new Set<string>();
    let answer: ProvisionAnswer = 'yes';
    for (const claim of bySize) {
      const selected = claim.metadata.annotations?.[ANNOTATION_SELECTED_NODE];
      if (selected !== undefined && selected !== snapshot.entry(slot).name) {
        answer = 'conflict';
        break;
      }
      const volume =
        selected === undefined
          ? findVolume(claim, volumesOf.get(claim.spec?.storageClassName ?? '') ?? [], {
              chosen,
              reaches: (candidate) => reaches(candidate, slot),
            })
          : undefined;
      if (volume) {
        chosen.add(volume.metadata.name ?? '');
        bindings.push({ volume, claim });
        continue;
      }
      answer = canProvision(claim, slot);
      if (answer !== 'yes') break;
      provisions.push(claim);
    }
    if (answer === 'conflict') reasons.push(BIND_CONFLICT);
    if (answer === 'space') reasons.push(NOT_ENOUGH_SPACE);
    return reasons.length > 0 ? unresolvable(VOLUME_BINDING, ...reasons) : { bindings, provisions };
  };
};
