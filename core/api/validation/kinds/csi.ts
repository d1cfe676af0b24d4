import {
  duplicates,
  format,
  immutable,
  labelSelector,
  nonnegative,
  nonnegativeQuantity,
  supportedOnly,
} from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notSupported, required, tooLong } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isQualifiedName, nameIsDnsSubdomain, rangeError } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, maybeObj, num, obj, objs, quantity, sameValue, str, strMap, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { driverName } from './driver-name.ts';
import { classParameters, inlineVolumeSpec, qualifiedProvisioner } from './storage.ts';

/** What drivers of the container storage interface bring: themselves, their nodes, attachments and capacities. */

const CLUSTER = { namespaced: false, name: nameIsDnsSubdomain };
const NAMESPACED = { namespaced: true, name: nameIsDnsSubdomain };
const NODE_ID_CHARACTERS_MAX = 256;
const METADATA_BYTES_MAX = 256 * 1_024;
const ERROR_MESSAGE_BYTES_MAX = 1_024;
const INT32_MAX = 2 ** 31 - 1;
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;
const UPDATE_PERIOD_SECONDS_MIN = 10;

function tokenRequests(path: FieldPath, requests: readonly Obj[]): FieldError[] {
  const audiences = requests.map((request) => str(request, 'audience'));
  return requests.flatMap((request, i) => {
    const at = index(path, i);
    if (audiences.indexOf(audiences[i]!) < i) return [duplicate(child(at, 'audience'), audiences[i])];
    const seconds = num(request, 'expirationSeconds');
    if (seconds === undefined) return [];
    const wrong = (why: string): FieldError[] => [invalid(child(at, 'expirationSeconds'), seconds, why)];
    return [
      ...(seconds < TOKEN_SECONDS_MIN ? wrong('may not specify a duration less than 10 minutes') : []),
      ...(seconds > TOKEN_SECONDS_MAX ? wrong('may not specify a duration larger than 2^32 seconds') : []),
    ];
  });
}

function driverSpec(spec: Obj): FieldError[] {
  const needed = (name: string, path = `spec.${name}`): FieldError[] =>
    has(spec, name) ? [] : [required(path)];
  const period = num(spec, 'nodeAllocatableUpdatePeriodSeconds');
  const requests = objs(spec, 'tokenRequests');
  return [
    // Upstream's path, a letter off the field's name.
    ...needed('attachRequired', 'spec.attachedRequired'),
    ...needed('podInfoOnMount'),
    ...needed('storageCapacity'),
    ...(has(spec, 'fsGroupPolicy')
      ? supportedOnly('spec.fsGroupPolicy', str(spec, 'fsGroupPolicy'), FS_GROUP_POLICIES)
      : []),
    ...tokenRequests('spec.tokenRequests', requests),
    ...strs(spec, 'volumeLifecycleModes').flatMap((mode) =>
      LIFECYCLE_MODES.includes(mode)
        ? []
        : [notSupported('spec.volumeLifecycleModes', mode, LIFECYCLE_MODES)],
    ),
    ...needed('seLinuxMount'),
    ...(period !== undefined && period < UPDATE_PERIOD_SECONDS_MIN
      ? [
          invalid(
            'spec.nodeAllocatableUpdatePeriodSeconds',
            period,
            `must be greater than or equal to ${UPDATE_PERIOD_SECONDS_MIN} seconds`,
          ),
        ]
      : []),
    ...(has(spec, 'serviceAccountTokenInSecrets') && requests.length === 0
      ? [
          invalid(
            'spec.serviceAccountTokenInSecrets',
            spec['serviceAccountTokenInSecrets'],
            'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
          ),
        ]
      : []),
  ];
}

export const CSIDriverRules: KindRules = {
  ...CLUSTER,
  create: (driver) => [...objectMeta(driver, CLUSTER), ...driverSpec(obj(driver, 'spec'))],
  update(driver, before) {
    const [spec, old] = [obj(driver, 'spec'), obj(before, 'spec')];
    return [
      ...objectMetaUpdate(driver, before),
      ...driverSpec(spec),
      ...immutable('spec.attachedRequired', spec['attachRequired'], old['attachRequired']),
      ...immutable('spec.volumeLifecycleModes', spec['volumeLifecycleModes'], old['volumeLifecycleModes']),
    ];
  },
};

function nodeDriver(path: FieldPath, driver: Obj): FieldError[] {
  const nodeId = str(driver, 'nodeID');
  const keys = strs(driver, 'topologyKeys');
  return [
    ...driverName(child(path, 'name'), str(driver, 'name')),
    ...(nodeId === '' ? [required(child(path, 'nodeID'))] : []),
    ...(nodeId.length > NODE_ID_CHARACTERS_MAX
      ? [invalid(child(path, 'nodeID'), nodeId, `must be ${NODE_ID_CHARACTERS_MAX} characters or less`)]
      : []),
    ...nonnegative(child(path, 'allocatable', 'count'), num(obj(driver, 'allocatable'), 'count')),
    ...keys.flatMap((key, i) => [
      ...(key === '' ? [required(path)] : []),
      ...(keys.indexOf(key) < i ? [duplicate(path, key)] : []),
      ...format(path, key, isQualifiedName),
    ]),
  ];
}

function csiNode(node: Obj): FieldError[] {
  const drivers = objs(obj(node, 'spec'), 'drivers');
  const at = (i: number): FieldPath => index('spec.drivers', i);
  const names = drivers.map((driver) => str(driver, 'name'));
  return [
    ...objectMeta(node, CLUSTER),
    ...drivers.flatMap((driver, i) => nodeDriver(at(i), driver)),
    ...duplicates(names, (i) => child(at(i), 'name'), duplicate),
  ];
}

export const CSINodeRules: KindRules = {
  ...CLUSTER,
  create: csiNode,
  update(node, before) {
    // What a driver can take may change while it runs; all else of it is as it was registered.
    const fixed = (driver: Obj): Obj => ({ ...driver, allocatable: undefined });
    const drivers = objs(obj(node, 'spec'), 'drivers');
    return [
      ...objectMetaUpdate(node, before),
      ...csiNode(node),
      ...objs(obj(before, 'spec'), 'drivers').flatMap((old) =>
        drivers
          .filter((driver) => str(driver, 'name') === str(old, 'name'))
          .flatMap((driver) => immutable('spec.drivers', fixed(driver), fixed(old))),
      ),
    ];
  },
};

export const CSIStorageCapacityRules: KindRules = {
  ...NAMESPACED,
  create(capacity) {
    const className = str(capacity, 'storageClassName');
    const size = quantity(capacity['capacity'] ?? '0');
    return [
      ...objectMeta(capacity, NAMESPACED),
      ...labelSelector('nodeTopology', maybeObj(capacity, 'nodeTopology')),
      ...nameIsDnsSubdomain(className, false).map((message) =>
        invalid('storageClassName', className, message),
      ),
      ...(size === undefined ? [] : nonnegativeQuantity('capacity', size)),
    ];
  },
  update: (capacity, before) => [
    ...objectMetaUpdate(capacity, before),
    ...['nodeTopology', 'storageClassName'].flatMap((name) => immutable(name, capacity[name], before[name])),
  ],
};

const EXACTLY_ONE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function attachmentSource(path: FieldPath, source: Obj): FieldError[] {
  const inline = maybeObj(source, 'inlineVolumeSpec');
  const hasVolume = has(source, 'persistentVolumeName');
  if (inline === undefined && !hasVolume) return [required(path, EXACTLY_ONE)];
  if (inline !== undefined && hasVolume) return [forbidden(path, EXACTLY_ONE)];
  if (inline !== undefined) return inlineVolumeSpec(child(path, 'inlineVolumeSpec'), inline);
  return str(source, 'persistentVolumeName') === ''
    ? [required(child(path, 'persistentVolumeName'), 'must specify non empty persistentVolumeName')]
    : [];
}

function volumeError(path: FieldPath, error: Obj | undefined): FieldError[] {
  if (error === undefined) return [];
  const code = num(error, 'errorCode');
  return [
    ...(byteLength(str(error, 'message')) > ERROR_MESSAGE_BYTES_MAX
      ? [tooLong(child(path, 'message'), METADATA_BYTES_MAX)]
      : []),
    ...(code !== undefined && code < 0
      ? [invalid(child(path, 'errorCode'), code, rangeError(0, INT32_MAX))]
      : []),
  ];
}

function attachment(object: Obj): FieldError[] {
  const [spec, status] = [obj(object, 'spec'), obj(object, 'status')];
  const nodeName = str(spec, 'nodeName');
  const source = obj(spec, 'source');
  const volume = str(source, 'persistentVolumeName');
  const bytes = Object.entries(strMap(status, 'attachmentMetadata')).reduce(
    (sum, [name, value]) => sum + byteLength(name) + byteLength(value),
    0,
  );
  return [
    ...objectMeta(object, CLUSTER),
    ...driverName('spec.attacher', str(spec, 'attacher')),
    ...attachmentSource('spec.source', source),
    ...nameIsDnsSubdomain(nodeName, false).map((message) => invalid('spec.nodeName', nodeName, message)),
    ...(bytes > METADATA_BYTES_MAX ? [tooLong('status.attachmentMetadata', METADATA_BYTES_MAX)] : []),
    ...volumeError('status.attachError', maybeObj(status, 'attachError')),
    ...volumeError('status.detachError', maybeObj(status, 'detachError')),
    ...(has(source, 'persistentVolumeName')
      ? nameIsDnsSubdomain(volume, false).map((message) =>
          invalid('spec.source.persistentVolumeName', volume, message),
        )
      : []),
  ];
}

const attachmentUpdate = (object: Obj, before: Obj): FieldError[] => [
  ...objectMetaUpdate(object, before),
  ...attachment(object),
  ...immutable('spec', object['spec'], before['spec']),
];

export const VolumeAttachmentRules: KindRules = {
  ...CLUSTER,
  create: attachment,
  update: attachmentUpdate,
  subresources: { status: attachmentUpdate },
};

const attributesClass = (object: Obj): FieldError[] => [
  ...objectMeta(object, CLUSTER),
  ...qualifiedProvisioner('driverName', str(object, 'driverName')),
  ...classParameters('parameters', strMap(object, 'parameters')),
  ...(Object.keys(strMap(object, 'parameters')).length === 0
    ? [required('parameters', 'must contain at least one key/value pair')]
    : []),
];

export const VolumeAttributesClassRules: KindRules = {
  ...CLUSTER,
  create: attributesClass,
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...['driverName', 'parameters'].flatMap((name) =>
      sameValue(object[name], before[name]) ? [] : [forbidden(name, `updates to ${name} are forbidden.`)],
    ),
    ...attributesClass(object),
  ],
};
