import type { KubernetesObject } from '../../meta/object-meta.ts';
import { accessModesText } from './formats.ts';
import {
  AGE,
  ageOf,
  at,
  boolean,
  column,
  flag,
  integer,
  isDeleted,
  list,
  NAME,
  nameOf,
  text,
  textOr,
  wide,
  type TablePrinter,
} from './printer.ts';

const VOLUME_MODE = wide('VolumeMode', 'Whether it is a file system or a block device.');

/** The annotation came first and still wins. */
const storageClassOf = (object: KubernetesObject): string =>
  object.metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
  text(object, 'spec', 'storageClassName');

const phaseOf = (object: KubernetesObject): string =>
  isDeleted(object) ? 'Terminating' : text(object, 'status', 'phase');

const PERSISTENT_VOLUME: TablePrinter = {
  columns: [
    NAME,
    column('Capacity', 'How much it holds.'),
    column('Access Modes', 'How many may mount it, and how.'),
    column('Reclaim Policy', 'What becomes of it once its claim is gone.'),
    column('Status', 'Whether it is free or claimed.'),
    column('Claim', 'The claim it is bound to.'),
    column('StorageClass', 'The class it belongs to.'),
    column('VolumeAttributesClass', 'The class of its attributes.'),
    column('Reason', 'Why it is in its status.'),
    AGE,
    VOLUME_MODE,
  ],
  cells(object, nowMs) {
    const claim = at(object, 'spec', 'claimRef');
    return [
      nameOf(object),
      textOr('0', object, 'spec', 'capacity', 'storage'),
      accessModesText(at(object, 'spec', 'accessModes')),
      text(object, 'spec', 'persistentVolumeReclaimPolicy'),
      phaseOf(object),
      claim === undefined ? '' : `${text(claim, 'namespace')}/${text(claim, 'name')}`,
      storageClassOf(object),
      textOr('<unset>', object, 'spec', 'volumeAttributesClassName'),
      text(object, 'status', 'reason'),
      ageOf(object, nowMs),
      textOr('<unset>', object, 'spec', 'volumeMode'),
    ];
  },
};

const PERSISTENT_VOLUME_CLAIM: TablePrinter = {
  columns: [
    NAME,
    column('Status', 'Whether it has a volume.'),
    column('Volume', 'The volume it is bound to.'),
    column('Capacity', 'How much the volume holds.'),
    column('Access Modes', 'How many may mount it, and how.'),
    column('StorageClass', 'The class it asks for.'),
    column('VolumeAttributesClass', 'The class of attributes it asks for.'),
    AGE,
    VOLUME_MODE,
  ],
  cells(object, nowMs) {
    const bound = text(object, 'spec', 'volumeName') !== '';
    return [
      nameOf(object),
      phaseOf(object),
      text(object, 'spec', 'volumeName'),
      bound ? textOr('0', object, 'status', 'capacity', 'storage') : '',
      bound ? accessModesText(at(object, 'status', 'accessModes')) : '',
      storageClassOf(object),
      textOr('<unset>', object, 'spec', 'volumeAttributesClassName'),
      ageOf(object, nowMs),
      textOr('<unset>', object, 'spec', 'volumeMode'),
    ];
  },
};

const DEFAULT_CLASS_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

const STORAGE_CLASS: TablePrinter = {
  columns: [
    NAME,
    column('Provisioner', 'Who makes its volumes.'),
    column('ReclaimPolicy', 'What becomes of a volume once its claim is gone.'),
    column('VolumeBindingMode', 'When a volume is made.'),
    column('AllowVolumeExpansion', 'Whether its volumes may grow.'),
    AGE,
  ],
  cells(object, nowMs) {
    const isDefault = DEFAULT_CLASS_ANNOTATIONS.some(
      (name) => object.metadata?.annotations?.[name] === 'true',
    );
    return [
      nameOf(object) + (isDefault ? ' (default)' : ''),
      text(object, 'provisioner'),
      textOr('Delete', object, 'reclaimPolicy'),
      textOr('Immediate', object, 'volumeBindingMode'),
      flag(object, 'allowVolumeExpansion'),
      ageOf(object, nowMs),
    ];
  },
};

const VOLUME_ATTRIBUTES_CLASS: TablePrinter = {
  columns: [NAME, column('DriverName', 'The driver that knows the attributes.'), AGE],
  cells: (object, nowMs) => [nameOf(object), text(object, 'driverName'), ageOf(object, nowMs)],
};

const VOLUME_ATTACHMENT: TablePrinter = {
  columns: [
    NAME,
    column('Attacher', 'The driver that attaches it.', { format: 'name' }),
    column('PV', 'The volume.'),
    column('Node', 'The node it is attached to.'),
    boolean('Attached', 'Whether it is attached.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    text(object, 'spec', 'attacher'),
    text(object, 'spec', 'source', 'persistentVolumeName'),
    text(object, 'spec', 'nodeName'),
    flag(object, 'status', 'attached'),
    ageOf(object, nowMs),
  ],
};

const CSI_DRIVER: TablePrinter = {
  columns: [
    NAME,
    boolean('AttachRequired', 'Whether its volumes are attached before they are mounted.'),
    boolean('PodInfoOnMount', 'Whether it is told which pod mounts.'),
    boolean('StorageCapacity', 'Whether the scheduler goes by the capacity it reports.'),
    column('TokenRequests', 'The audiences of the tokens it gets.'),
    boolean('RequiresRepublish', 'Whether it is asked again for mounted volumes.'),
    column('Modes', 'The kinds of volumes it makes.'),
    AGE,
  ],
  cells(object, nowMs) {
    const tokens = at(object, 'spec', 'tokenRequests');
    const modes = (at(object, 'spec', 'volumeLifecycleModes') as string[] | undefined) ?? [];
    return [
      nameOf(object),
      at(object, 'spec', 'attachRequired') !== false,
      flag(object, 'spec', 'podInfoOnMount'),
      flag(object, 'spec', 'storageCapacity'),
      tokens === undefined
        ? '<unset>'
        : list(tokens)
            .map((token) => text(token, 'audience'))
            .join(','),
      flag(object, 'spec', 'requiresRepublish'),
      modes.join(',') || '<none>',
      ageOf(object, nowMs),
    ];
  },
};

const CSI_NODE: TablePrinter = {
  columns: [NAME, integer('Drivers', 'How many drivers run on the node.'), AGE],
  cells: (object, nowMs) => [nameOf(object), list(object, 'spec', 'drivers').length, ageOf(object, nowMs)],
};

const claimState = (claim: KubernetesObject): string => {
  const allocated = at(claim, 'status', 'allocation') !== undefined;
  const states = [
    ...(isDeleted(claim) ? ['deleted'] : []),
    ...(allocated ? ['allocated'] : isDeleted(claim) ? [] : ['pending']),
    ...(allocated && list(claim, 'status', 'reservedFor').length > 0 ? ['reserved'] : []),
  ];
  return states.join(',');
};

const NAME_AND_AGE: TablePrinter = {
  columns: [NAME, AGE],
  cells: (object, nowMs) => [nameOf(object), ageOf(object, nowMs)],
};

const RESOURCE_CLAIM: TablePrinter = {
  columns: [NAME, column('State', 'Whether devices are found for it, and in use.'), AGE],
  cells: (object, nowMs) => [nameOf(object), claimState(object), ageOf(object, nowMs)],
};

const RESOURCE_SLICE: TablePrinter = {
  columns: [
    NAME,
    column('Node', 'The node that has the devices.'),
    column('Driver', 'The driver of the devices.'),
    column('Pool', 'The pool that the devices belong to.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    text(object, 'spec', 'nodeName'),
    text(object, 'spec', 'driver'),
    text(object, 'spec', 'pool', 'name'),
    ageOf(object, nowMs),
  ],
};

export const STORAGE_PRINTERS: Readonly<Record<string, TablePrinter>> = {
  '/PersistentVolume': PERSISTENT_VOLUME,
  '/PersistentVolumeClaim': PERSISTENT_VOLUME_CLAIM,
  'storage.k8s.io/StorageClass': STORAGE_CLASS,
  'storage.k8s.io/VolumeAttributesClass': VOLUME_ATTRIBUTES_CLASS,
  'storage.k8s.io/VolumeAttachment': VOLUME_ATTACHMENT,
  'storage.k8s.io/CSIDriver': CSI_DRIVER,
  'storage.k8s.io/CSINode': CSI_NODE,
  'resource.k8s.io/DeviceClass': NAME_AND_AGE,
  'resource.k8s.io/ResourceClaim': RESOURCE_CLAIM,
  'resource.k8s.io/ResourceClaimTemplate': NAME_AND_AGE,
  'resource.k8s.io/ResourceSlice': RESOURCE_SLICE,
};
