import type { CsiNode, InTreeSource } from '../../model/volumes.ts';

/** A volume as its CSI driver knows it. */
export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
}

interface TakenOver {
  readonly plugin: string;
  readonly driver: string;
  /** Names the volume among those of the driver; undefined when the source is of another kind. */
  handle(source: InTreeSource): string | undefined;
}

/** Kinds of volumes that were in Kubernetes before CSI, and the drivers that serve them now. */
const TAKEN_OVER: readonly TakenOver[] = [
  {
    plugin: 'kubernetes.io/aws-ebs',
    driver: 'ebs.csi.aws.com',
    handle: ({ awsElasticBlockStore }) => awsElasticBlockStore?.volumeID.replace(/^aws:\/\/[^/]*\//, ''),
  },
  {
    plugin: 'kubernetes.io/gce-pd',
    driver: 'pd.csi.storage.gke.io',
    handle: ({ gcePersistentDisk }) =>
      gcePersistentDisk && `projects/UNSPECIFIED/zones/UNSPECIFIED/disks/${gcePersistentDisk.pdName}`,
  },
  {
    plugin: 'kubernetes.io/azure-disk',
    driver: 'disk.csi.azure.com',
    handle: ({ azureDisk }) => azureDisk?.diskURI,
  },
  {
    plugin: 'kubernetes.io/azure-file',
    driver: 'file.csi.azure.com',
    handle: ({ azureFile }) => azureFile && `${azureFile.secretName}#${azureFile.shareName}`,
  },
  {
    plugin: 'kubernetes.io/cinder',
    driver: 'cinder.csi.openstack.org',
    handle: ({ cinder }) => cinder?.volumeID,
  },
  {
    plugin: 'kubernetes.io/vsphere-volume',
    driver: 'csi.vsphere.vmware.com',
    handle: ({ vsphereVolume }) => vsphereVolume?.volumePath,
  },
  {
    plugin: 'kubernetes.io/portworx-volume',
    driver: 'pxd.portworx.com',
    handle: ({ portworxVolume }) => portworxVolume?.volumeID,
  },
];

const ANNOTATION_MIGRATED = 'storage.alpha.kubernetes.io/migrated-plugins';

/** The node says for which kinds it asks the driver. */
const isTakenOverOn = (node: CsiNode | undefined, plugin: string): boolean =>
  node?.metadata.annotations?.[ANNOTATION_MIGRATED]?.split(',').includes(plugin) ?? false;

export const isInTree = (source: InTreeSource): boolean =>
  TAKEN_OVER.some(({ handle }) => handle(source) !== undefined);

export const csiVolumeOf = (source: InTreeSource, node: CsiNode | undefined): CsiVolume | undefined => {
  for (const { plugin, driver, handle } of TAKEN_OVER) {
    const found = handle(source);
    if (found !== undefined) return isTakenOverOn(node, plugin) ? { driver, handle: found } : undefined;
  }
  return undefined;
};

/** Who makes volumes for a provisioner; undefined when that is no CSI driver on this node. */
export const driverOf = (provisioner: string, node: CsiNode | undefined): string | undefined => {
  const known = TAKEN_OVER.find(({ plugin }) => plugin === provisioner);
  if (!known) return provisioner;
  return isTakenOverOn(node, provisioner) ? known.driver : undefined;
};
