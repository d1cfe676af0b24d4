import { format, label, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, key } from '../../field/field-path.ts';
import { isDns1123Subdomain, nameIsDnsLabel } from '../../field/formats.ts';
import type { Obj } from '../read.ts';
import { has, isObj, maybeObj, num, obj, str, strMap, strs } from '../read.ts';
import { driverName } from './driver-name.ts';
import { hostPathSource, nfsSource, noBacksteps, requiredText } from './volume-paths.ts';

/** What a PersistentVolume is made of. Most kinds are kept for old clusters, and validated all the same. */

type Check = (path: FieldPath, source: Obj, volumeName: string) => FieldError[];

const BYTE_MAX = 255;
const outsideOf = (path: FieldPath, value: number, [min, max]: readonly [number, number]): FieldError[] =>
  value < 0 || value > max ? [invalid(path, value, `must be between ${min} and ${max}, inclusive`)] : [];
const texts =
  (...names: readonly string[]): Check =>
  (path, source) =>
    requiredText(path, source, ...names);
const list = (path: FieldPath, source: Obj, name: string): FieldError[] =>
  strs(source, name).length === 0 ? [required(child(path, name))] : [];

const secretRef = (path: FieldPath, source: Obj): FieldError[] => {
  const reference = maybeObj(source, 'secretRef');
  return reference ? requiredText(child(path, 'secretRef'), reference, 'name', 'namespace') : [];
};

const disk =
  (name: string): Check =>
  (path, source) => [
    ...requiredText(path, source, name),
    ...outsideOf(child(path, 'partition'), num(source, 'partition') ?? 0, [1, BYTE_MAX]),
  ];

const glusterfs: Check = (path, source) => {
  const at = child(path, 'endpointsNamespace');
  const namespace = str(source, 'endpointsNamespace');
  const wrong =
    namespace === ''
      ? ['if the endpointnamespace is set, it must be a valid namespace name']
      : nameIsDnsLabel(namespace, false);
  return [
    ...requiredText(path, source, 'endpoints', 'path'),
    ...(has(source, 'endpointsNamespace') ? wrong.map((why) => invalid(at, namespace, why)) : []),
  ];
};

const flocker: Check = (path, source) => {
  const [name, uuid] = [str(source, 'datasetName'), str(source, 'datasetUUID')];
  return [
    ...(name === '' && uuid === '' ? [required(path, 'one of datasetName and datasetUUID is required')] : []),
    ...(name !== '' && uuid !== ''
      ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(name.includes('/') ? [invalid(child(path, 'datasetName'), name, "must not contain '/'")] : []),
  ];
};

const TENANT_LENGTH_MAX = 64;
const HOST_PORT = /^(?:\[[^\]]*\]|[^:[\]]*):[^:[\]]*$/;

const quobyte: Check = (path, source) => {
  const registry = str(source, 'registry');
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const errors: FieldError[] = [];
  if (registry === '') errors.push(required(child(path, 'registry'), pairs));
  else if (str(source, 'tenant').length > TENANT_LENGTH_MAX)
    errors.push(
      required(child(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters'),
    );
  else
    for (const pair of registry.split(','))
      if (!HOST_PORT.test(pair)) errors.push(invalid(child(path, 'registry'), registry, pairs));
  return [...errors, ...requiredText(path, source, 'volume')];
};

const INITIATORS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};
const initiator = (path: FieldPath, name: string): FieldError[] =>
  INITIATORS[name.slice(0, 3)]?.test(name) === true ? [] : [invalid(path, name, 'must be valid format')];
const ISCSI_NAME_LENGTH_MAX = 64;

const iscsi: Check = (path, source, volumeName) => {
  const [portal, iqn] = [str(source, 'targetPortal'), str(source, 'iqn')];
  const hasInitiator = has(source, 'initiatorName');
  const secret = maybeObj(source, 'secretRef');
  const usesChap = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
  return [
    ...requiredText(path, source, 'targetPortal'),
    ...(hasInitiator && `${volumeName}:${portal}`.length > ISCSI_NAME_LENGTH_MAX
      ? [
          invalid(
            child(path, 'targetportal'),
            portal,
            'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
          ),
        ]
      : []),
    ...(iqn === '' ? [required(child(path, 'iqn'))] : initiator(child(path, 'iqn'), iqn)),
    ...outsideOf(child(path, 'lun'), num(source, 'lun') ?? 0, [0, BYTE_MAX]),
    ...(usesChap && !secret ? [required(child(path, 'secretRef'))] : []),
    ...(secret ? requiredText(child(path, 'secretRef'), secret, 'name') : []),
    ...(hasInitiator ? initiator(child(path, 'initiatorname'), str(source, 'initiatorName')) : []),
  ];
};

const fc: Check = (path, source) => {
  const [names, ids] = [strs(source, 'targetWWNs'), strs(source, 'wwids')];
  const at = child(path, 'targetWWNs');
  const lun = num(source, 'lun');
  return [
    ...(names.length === 0 && ids.length === 0
      ? [required(at, 'must specify either targetWWNs or wwids, but not both')]
      : []),
    ...(names.length > 0 && ids.length > 0
      ? [invalid(at, names, 'targetWWNs and wwids can not be specified simultaneously')]
      : []),
    ...(names.length === 0
      ? []
      : lun === undefined
        ? [required(child(path, 'lun'), 'lun is required if targetWWNs is specified')]
        : outsideOf(child(path, 'lun'), lun, [0, BYTE_MAX])),
  ];
};

const RESERVED = /\.(?:kubernetes|k8s)\.io$/;

const flexVolume: Check = (path, source) => [
  ...requiredText(path, source, 'driver'),
  ...Object.keys(strMap(source, 'options'))
    .sort()
    .filter((option) => RESERVED.test(`.${option.split('/', 1)[0]!.toLowerCase()}`))
    .map((option) =>
      invalid(
        key(child(path, 'options'), option),
        option,
        'kubernetes.io and k8s.io namespaces are reserved',
      ),
    ),
];

const azureDisk: Check = (path, source) => {
  const [kind, uri] = [str(source, 'kind'), str(source, 'diskURI')];
  const isManaged = kind === 'Managed';
  const form = isManaged
    ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
    : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
  const begin = isManaged ? '/subscriptions/' : 'https://';
  const known = (name: string, values: readonly string[]): FieldError[] =>
    has(source, name) ? supportedOnly(child(path, name), str(source, name), values) : [];
  return [
    ...requiredText(path, source, 'diskName', 'diskURI'),
    ...known('cachingMode', ['None', 'ReadOnly', 'ReadWrite']),
    ...known('kind', ['Dedicated', 'Managed', 'Shared']),
    ...(has(source, 'kind') && !uri.startsWith(begin)
      ? [notSupported(child(path, 'diskURI'), uri, [form])]
      : []),
  ];
};

const storageos: Check = (path, source) => {
  const [name, namespace] = [str(source, 'volumeName'), str(source, 'volumeNamespace')];
  return [
    ...(name === '' ? [required(child(path, 'volumeName'))] : label(child(path, 'volumeName'), name)),
    ...(namespace === '' ? [] : label(child(path, 'volumeNamespace'), namespace)),
    ...secretRef(path, source),
  ];
};

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

const csiSecret = (path: FieldPath, { name = '', namespace = '' }: Obj): FieldError[] => [
  ...(name === ''
    ? [required(child(path, 'name'))]
    : format(child(path, 'name'), String(name), isDns1123Subdomain)),
  ...(namespace === ''
    ? [required(child(path, 'namespace'))]
    : label(child(path, 'namespace'), String(namespace))),
];

const csi: Check = (path, source) => [
  ...driverName(child(path, 'driver'), str(source, 'driver')),
  ...requiredText(path, source, 'volumeHandle'),
  ...CSI_SECRETS.flatMap((name) => {
    const reference = maybeObj(source, name);
    return reference ? csiSecret(child(path, name), reference) : [];
  }),
];

/** In upstream's order: the first of a volume is validated, the rest are too many. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ['hostPath', hostPathSource],
  ['gcePersistentDisk', disk('pdName')],
  ['awsElasticBlockStore', disk('volumeID')],
  ['glusterfs', glusterfs],
  ['flocker', flocker],
  ['nfs', nfsSource],
  ['rbd', (path, source) => [...list(path, source, 'monitors'), ...requiredText(path, source, 'image')]],
  ['quobyte', quobyte],
  ['cephfs', (path, source) => list(path, source, 'monitors')],
  ['iscsi', iscsi],
  ['cinder', (path, source) => [...requiredText(path, source, 'volumeID'), ...secretRef(path, source)]],
  ['fc', fc],
  ['flexVolume', flexVolume],
  [
    'azureFile',
    (path, source) => [
      ...requiredText(path, source, 'secretName', 'shareName'),
      ...(has(source, 'secretNamespace') ? requiredText(path, source, 'secretNamespace') : []),
    ],
  ],
  ['vsphereVolume', texts('volumePath')],
  ['photonPersistentDisk', texts('pdID')],
  ['portworxVolume', texts('volumeID')],
  ['azureDisk', azureDisk],
  ['scaleIO', texts('gateway', 'system', 'volumeName')],
  [
    'local',
    (path, source) =>
      str(source, 'path') === ''
        ? [required(child(path, 'path'))]
        : noBacksteps(child(path, 'path'), str(source, 'path')),
  ],
  ['storageos', storageos],
  ['csi', csi],
];

/** Upstream's texts name these by another name in one of the two errors. */
const TOO_MANY_NAMES: Readonly<Record<string, string>> = { cephfs: 'cephFS' };
const CHECKED_NAMES: Readonly<Record<string, string>> = { gcePersistentDisk: 'persistentDisk' };

export const volumeSourceNames = (spec: Obj): readonly string[] =>
  CHECKS.map(([name]) => name).filter((name) => isObj(spec[name]));

/** `onFirst`: what else the volume needs because of its source. */
export const volumeSourceErrors = (
  path: FieldPath,
  spec: Obj,
  volumeName: string,
  onFirst: (name: string) => FieldError[] = () => [],
): FieldError[] => {
  const names = volumeSourceNames(spec);
  if (names.length === 0) return [required(path, 'must specify a volume type')];
  const checks = new Map(CHECKS);
  return names.flatMap((name, at) => {
    if (at > 0 && name !== 'flexVolume')
      return [
        forbidden(child(path, TOO_MANY_NAMES[name] ?? name), 'may not specify more than 1 volume type'),
      ];
    const source = obj(spec, name);
    return [
      ...checks.get(name)!(child(path, CHECKED_NAMES[name] ?? name), source, volumeName),
      ...onFirst(name),
    ];
  });
};
