import type { Pod, PodVolume } from '../../model/objects.ts';

const DISKS = ['gcePersistentDisk', 'awsElasticBlockStore', 'rbd', 'iscsi'] as const;

const isDisk = (volume: PodVolume): boolean => DISKS.some((kind) => volume[kind] !== undefined);

/** Whether volumes of the pod name disks that two pods of a node may not share. */
export const hasDisks = (pod: Pod): boolean => pod.spec.volumes?.some(isDisk) ?? false;

interface Mount {
  readonly readOnly?: boolean;
}

const bothOnlyRead = (a: Mount, b: Mount): boolean => a.readOnly === true && b.readOnly === true;

/** Read-only use may be shared, but of EBS volumes not even that. */
const volumesConflict = (a: PodVolume, b: PodVolume): boolean => {
  const [gceA, gceB] = [a.gcePersistentDisk, b.gcePersistentDisk];
  if (gceA && gceB && gceA.pdName === gceB.pdName && !bothOnlyRead(gceA, gceB)) return true;
  const [ebsA, ebsB] = [a.awsElasticBlockStore, b.awsElasticBlockStore];
  if (ebsA && ebsB && ebsA.volumeID === ebsB.volumeID) return true;
  const [iscsiA, iscsiB] = [a.iscsi, b.iscsi];
  if (iscsiA && iscsiB && iscsiA.iqn === iscsiB.iqn && !bothOnlyRead(iscsiA, iscsiB)) return true;
  const [rbdA, rbdB] = [a.rbd, b.rbd];
  if (!rbdA || !rbdB || bothOnlyRead(rbdA, rbdB)) return false;
  const isSameImage = rbdA.pool === rbdB.pool && rbdA.image === rbdB.image;
  return isSameImage && rbdA.monitors.some((monitor) => rbdB.monitors.includes(monitor));
};

export const disksConflict = (a: Pod, b: Pod): boolean =>
  a.spec.volumes?.some(
    (volume) => isDisk(volume) && b.spec.volumes?.some((other) => volumesConflict(volume, other)),
  ) ?? false;
