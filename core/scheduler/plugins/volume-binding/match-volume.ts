import { amountOf } from '../../model/resources.ts';
import { compiledSelector } from '../../model/selectors.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../model/volumes.ts';

export const requestedBytes = (claim: PersistentVolumeClaim): number =>
  amountOf('storage', claim.spec?.resources?.requests?.['storage']);

const capacityBytes = (volume: PersistentVolume): number =>
  amountOf('storage', volume.spec?.capacity?.['storage']);

export const isBoundTo = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean => {
  const reference = volume.spec?.claimRef;
  return (
    reference?.name === claim.metadata.name &&
    reference?.namespace === claim.metadata.namespace &&
    (!reference?.uid || reference.uid === claim.metadata.uid)
  );
};

const mayHold = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean => {
  const modes = new Set(volume.spec?.accessModes);
  return (
    (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem') &&
    capacityBytes(volume) >= requestedBytes(claim) &&
    (claim.spec?.accessModes ?? []).every((mode) => modes.has(mode)) &&
    volume.metadata.deletionTimestamp === undefined
  );
};

/**
 * The volume for a claim on one node: the one already tied to the claim, else the smallest that is free and
 * large enough.
 */
export const findVolume = (
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  options: { readonly chosen: ReadonlySet<string>; readonly reaches: (volume: PersistentVolume) => boolean },
): PersistentVolume | undefined => {
  const selector = claim.spec?.selector && compiledSelector(claim.spec.selector);
  let smallest: PersistentVolume | undefined;
  for (const volume of volumes) {
    if (options.chosen.has(volume.metadata.name ?? '') || !mayHold(volume, claim)) continue;
    if (volume.spec?.claimRef) {
      if (isBoundTo(volume, claim) && options.reaches(volume)) return volume;
      continue;
    }
    if (volume.status?.phase !== 'Available') continue;
    if (selector && !selector.matches(volume.metadata.labels)) continue;
    if (smallest && capacityBytes(smallest) <= capacityBytes(volume)) continue;
    if (options.reaches(volume)) smallest = volume;
  }
  return smallest;
};
