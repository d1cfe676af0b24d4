import type { Node, PersistentVolume, StorageClass, Stored } from '../../client/index.ts';
import { BOUND_BY_CONTROLLER, claimReference, modeOf, PROVISIONED_BY, type Claim } from './volume-facts.ts';

/** The provisioner that is built in: a directory on the node that the pod goes to. */
export const LOCAL_PROVISIONER = 'pilothouse.dev/local';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';
const DEFAULT_FOLDER = '/var/lib/pilothouse/volumes';

/** By the uid of the claim: provisioning twice yields the same volume, and a recreated claim gets another. */
export const volumeNameFor = ({ metadata }: Claim): string => `pvc-${metadata.uid}`;

/**
 * The volume for a claim. Bound to the node where one was chosen; a class that binds immediately gets a directory that is
 * on each node, as no node is known. Its data is the node's: the controller reaches no host.
 */
export const localVolume = (
  claim: Claim,
  storageClass: Stored<StorageClass>,
  node: Node | undefined,
): PersistentVolume => {
  const name = volumeNameFor(claim);
  const folder = (storageClass.parameters?.['path'] ?? DEFAULT_FOLDER).replace(/\/+$/, '');
  const path = `${folder}/${name}`;
  const hostname = node?.metadata?.labels?.[HOSTNAME_LABEL] ?? node?.metadata?.name;
  const source =
    hostname === undefined
      ? { hostPath: { path, type: 'DirectoryOrCreate' } }
      : {
          local: { path },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: HOSTNAME_LABEL, operator: 'In', values: [hostname] }] },
              ],
            },
          },
        };
  return {
    metadata: {
      name,
      annotations: { [BOUND_BY_CONTROLLER]: 'yes', [PROVISIONED_BY]: LOCAL_PROVISIONER },
    },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.['storage'] ?? '0' },
      accessModes: claim.spec?.accessModes ?? [],
      volumeMode: modeOf(claim),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      claimRef: claimReference(claim),
      ...(storageClass.mountOptions && { mountOptions: storageClass.mountOptions }),
      ...source,
    },
  };
};
