import type { GroupResource } from '../meta/group-version.ts';
import { groupResourceText } from '../meta/group-version.ts';

/** A kind that is stored and validated, and that nothing acts upon yet. */
export interface UnenforcedResource extends GroupResource {
  readonly version: string;
  readonly kind: string;
  /** What does not happen, as the end of a sentence. */
  readonly lacking: string;
  /** Objects of the system's own, which are there in every cluster, carry this annotation. */
  readonly ownAnnotation?: string;
}

const RESOURCE = 'resource.k8s.io';
const STORAGE = 'storage.k8s.io';
const NO_DEVICES = 'no device is allocated';

/**
 * The one list of what the API server accepts and the cluster does not do. Anyone who writes such an object is warned, and
 * `pilothouse check` names those that exist. Delete a line when its feature lands.
 */
export const UNENFORCED: readonly UnenforcedResource[] = [
  {
    group: 'node.k8s.io',
    version: 'v1',
    resource: 'runtimeclasses',
    kind: 'RuntimeClass',
    lacking: 'its overhead and scheduling apply, its handler does not',
  },
  { group: RESOURCE, version: 'v1', resource: 'deviceclasses', kind: 'DeviceClass', lacking: NO_DEVICES },
  { group: RESOURCE, version: 'v1', resource: 'resourceclaims', kind: 'ResourceClaim', lacking: NO_DEVICES },
  {
    group: RESOURCE,
    version: 'v1',
    resource: 'resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    lacking: 'no claim is made of it',
  },
  { group: RESOURCE, version: 'v1', resource: 'resourceslices', kind: 'ResourceSlice', lacking: NO_DEVICES },
  {
    group: STORAGE,
    version: 'v1',
    resource: 'csidrivers',
    kind: 'CSIDriver',
    lacking: 'kubelets mount no CSI volumes',
  },
  {
    group: STORAGE,
    version: 'v1',
    resource: 'volumeattachments',
    kind: 'VolumeAttachment',
    lacking: 'no volume is attached',
  },
  {
    group: STORAGE,
    version: 'v1',
    resource: 'volumeattributesclasses',
    kind: 'VolumeAttributesClass',
    lacking: 'no volume is modified',
  },
];

const BY_RESOURCE = new Map(UNENFORCED.map((one) => [groupResourceText(one), one]));

/** What the writer of such an object is told; undefined for what is enforced. */
export const unenforcedWarning = (resource: GroupResource): string | undefined => {
  const found = BY_RESOURCE.get(groupResourceText(resource));
  return found && `${found.kind} is stored but not enforced: ${found.lacking}`;
};
