import type { GroupResource } from '../../api/meta/index.ts';
import type { AdmissionAttributes, Operation } from './attributes.ts';

export const PODS: GroupResource = { group: '', resource: 'pods' };
export const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };
export const NODES: GroupResource = { group: '', resource: 'nodes' };
export const SERVICE_ACCOUNTS: GroupResource = { group: '', resource: 'serviceaccounts' };
export const PERSISTENT_VOLUME_CLAIMS: GroupResource = { group: '', resource: 'persistentvolumeclaims' };
export const PERSISTENT_VOLUMES: GroupResource = { group: '', resource: 'persistentvolumes' };
export const STORAGE_CLASSES: GroupResource = { group: 'storage.k8s.io', resource: 'storageclasses' };

export const MIRROR_POD_ANNOTATION = 'kubernetes.io/config.mirror';

export const isResource = (attributes: AdmissionAttributes, { group, resource }: GroupResource): boolean =>
  attributes.resource.group === group && attributes.resource.resource === resource;

/** `AdmissionPlugin.handles` of a plugin that looks at these alone. */
export const handlesOnly =
  (...operations: readonly Operation[]) =>
  (operation: Operation): boolean =>
    operations.includes(operation);
