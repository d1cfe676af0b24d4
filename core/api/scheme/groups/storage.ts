import { define } from '../define.ts';

export const STORAGE_RESOURCES = [
  ...define('storage.k8s.io', 'v1', [
    { kind: 'CSIDriver', plural: 'csidrivers', cluster: true },
    { kind: 'CSINode', plural: 'csinodes', cluster: true },
    { kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' },
    { kind: 'StorageClass', plural: 'storageclasses', cluster: true, short: ['sc'] },
    { kind: 'VolumeAttachment', plural: 'volumeattachments', cluster: true, status: true },
    { kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', cluster: true, short: ['vac'] },
  ]),
  ...define('resource.k8s.io', 'v1', [
    { kind: 'DeviceClass', plural: 'deviceclasses', cluster: true },
    { kind: 'ResourceClaim', plural: 'resourceclaims', status: true },
    { kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates' },
    { kind: 'ResourceSlice', plural: 'resourceslices', cluster: true },
  ]),
];
