import { duplicates, format, immutable, labelSelector, qualifiedName, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notSupported, required, tooLong } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index, key } from '../../field/field-path.ts';
import { isDns1123Subdomain, isQualifiedName, nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import {
  differences,
  has,
  isObj,
  maybeObj,
  obj,
  objs,
  quantities,
  quantity,
  sameValue,
  str,
  strMap,
  strs,
} from '../read.ts';
import type { KindRules } from '../rules.ts';
import { volumeSourceErrors, volumeSourceNames } from './persistent-volume-sources.ts';
import { resourceQuantity } from './resources.ts';
import { nodeSelector } from './scheduling.ts';

/** Volumes, claims and classes. */

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];
const NOT_POSITIVE = 'must be greater than zero';

function accessModes(path: FieldPath, modes: readonly string[]): FieldError[] {
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  return [
    ...modes.flatMap((mode) => (ACCESS_MODES.includes(mode) ? [] : [notSupported(path, mode, ACCESS_MODES)])),
    ...(known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod')
      ? [forbidden(path, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

const className = (path: FieldPath, of: Obj, name: string): FieldError[] =>
  str(of, name) === '' ? [] : format(child(path, name), str(of, name), isDns1123Subdomain);

export function persistentVolumeClaimSpec(path: FieldPath, spec: Obj): FieldError[] {
  const modes = strs(spec, 'accessModes');
  const storage = obj(obj(spec, 'resources'), 'requests')['storage'];
  const storagePath = key(child(path, 'resources'), 'storage');
  const size = storage === undefined ? undefined : quantity(storage);
  const errors =
    modes.length === 0 ? [required(child(path, 'accessModes'), 'at least 1 access mode is required')] : [];
  errors.push(
    ...labelSelector(child(path, 'selector'), maybeObj(spec, 'selector')),
    ...accessModes(child(path, 'accessModes'), modes),
  );
  if (size === undefined) errors.push(required(storagePath));
  else if (size.sign <= 0) errors.push(invalid(storagePath, size.toString(), NOT_POSITIVE));
  else errors.push(...resourceQuantity(storagePath, 'storage', size));
  errors.push(...className(path, spec, 'storageClassName'));
  if (has(spec, 'volumeMode'))
    errors.push(...supportedOnly(child(path, 'volumeMode'), str(spec, 'volumeMode'), VOLUME_MODES));
  for (const source of ['dataSource', 'dataSourceRef']) {
    const reference = maybeObj(spec, source);
    if (reference === undefined) continue;
    const at = child(path, source);
    for (const name of ['name', 'kind'])
      if (str(reference, name) === '') errors.push(required(child(at, name)));
    if (str(reference, 'apiGroup') === '' && str(reference, 'kind') !== 'PersistentVolumeClaim')
      errors.push(
        invalid(
          at,
          str(reference, 'kind'),
          "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        ),
      );
  }
  return [...errors, ...className(path, spec, 'volumeAttributesClassName')];
}

const NAMESPACED = { namespaced: true, name: nameIsDnsSubdomain };
const CLUSTER = { namespaced: false, name: nameIsDnsSubdomain };

const storageOf = (claim: Obj): unknown => obj(obj(obj(claim, 'spec'), 'resources'), 'requests')['storage'];

function claimUpdate(claim: Obj, before: Obj): FieldError[] {
  const errors = [
    ...objectMetaUpdate(claim, before),
    ...objectMeta(claim, NAMESPACED),
    ...persistentVolumeClaimSpec('spec', obj(claim, 'spec')),
  ];
  const old = obj(before, 'spec');
  const spec = obj(claim, 'spec');
  const isBound = str(obj(claim, 'status'), 'phase') === 'Bound';
  const resources = obj(spec, 'resources');
  const munged: Obj = {
    ...spec,
    // The binder sets the name once; a default class may come after the claim.
    ...(str(old, 'volumeName') === '' && { volumeName: old['volumeName'] }),
    ...(!has(old, 'storageClassName') && { storageClassName: old['storageClassName'] }),
    ...(isBound && {
      resources: { ...resources, requests: { ...obj(resources, 'requests'), storage: storageOf(before) } },
      volumeAttributesClassName: old['volumeAttributesClassName'],
    }),
  };
  if (!sameValue(munged, old))
    errors.push(
      forbidden(
        'spec',
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${differences(old, munged, 'spec').join('\n')}`,
      ),
    );
  const [size, oldSize] = [quantity(storageOf(claim)), quantity(storageOf(before))];
  const capacity = quantity(obj(obj(before, 'status'), 'capacity')['storage']);
  if (size !== undefined && oldSize !== undefined && size.compare(oldSize) < 0)
    if (capacity !== undefined && size.compare(capacity) <= 0)
      errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  return [...errors, ...immutable('volumeMode', spec['volumeMode'], old['volumeMode'])];
}

export const PersistentVolumeClaimRules: KindRules = {
  ...NAMESPACED,
  create: (claim) => [
    ...objectMeta(claim, NAMESPACED),
    ...persistentVolumeClaimSpec('spec', obj(claim, 'spec')),
  ],
  update: claimUpdate,
};

/** Fields of a volume's spec that are objects but no source of it. */
const NOT_INLINE = 'may not be specified in the context of inline volumes';

/** The spec of a volume that stands in an attachment: no claim will ever bind it. */
export function inlineVolumeSpec(path: FieldPath, spec: Obj): FieldError[] {
  const modes = strs(spec, 'accessModes');
  const [policy, volumeMode] = [str(spec, 'persistentVolumeReclaimPolicy'), str(spec, 'volumeMode')];
  const absent = (name: string): FieldError[] =>
    has(spec, name) && str(spec, name) !== '' ? [forbidden(child(path, name), NOT_INLINE)] : [];
  return [
    ...(has(spec, 'claimRef') ? [forbidden(child(path, 'claimRef'), NOT_INLINE)] : []),
    ...(quantities(spec, 'capacity').length > 0 ? [forbidden(child(path, 'capacity'), NOT_INLINE)] : []),
    ...(has(spec, 'csi')
      ? []
      : [required(child(path, 'csi'), 'has to be specified in the context of inline volumes')]),
    ...(modes.length === 0 ? [required(child(path, 'accessModes'))] : []),
    ...accessModes(child(path, 'accessModes'), modes),
    ...(policy !== '' && policy !== 'Retain'
      ? [
          forbidden(
            child(path, 'persistentVolumeReclaimPolicy'),
            'may only be Retain in the context of inline volumes',
          ),
        ]
      : []),
    ...(has(spec, 'nodeAffinity') ? [forbidden(child(path, 'nodeAffinity'), NOT_INLINE)] : []),
    ...volumeSourceErrors(path, spec, ''),
    ...absent('storageClassName'),
    ...(volumeMode !== '' && volumeMode !== 'Filesystem'
      ? [
          forbidden(
            child(path, 'volumeMode'),
            'may not specify volumeMode other than Filesystem in the context of inline volumes',
          ),
        ]
      : []),
  ];
}

function volumeSpec(path: FieldPath, spec: Obj, volumeName: string): FieldError[] {
  const modes = strs(spec, 'accessModes');
  const capacity = quantities(spec, 'capacity');
  const errors = modes.length === 0 ? [required(child(path, 'accessModes'))] : [];
  errors.push(...accessModes(child(path, 'accessModes'), modes));
  if (capacity.length === 0) errors.push(required(child(path, 'capacity')));
  if (capacity.length !== 1 || capacity[0]?.[0] !== 'storage')
    errors.push(notSupported(child(path, 'capacity'), maybeObj(spec, 'capacity') ?? null, ['storage']));
  for (const [name, amount] of capacity) {
    const at = key(child(path, 'capacity'), name);
    errors.push(...resourceQuantity(at, name, amount));
    if (amount.sign <= 0) errors.push(invalid(at, amount.toString(), NOT_POSITIVE));
  }
  if (str(spec, 'persistentVolumeReclaimPolicy') !== '')
    errors.push(
      ...supportedOnly(
        child(path, 'persistentVolumeReclaimPolicy'),
        str(spec, 'persistentVolumeReclaimPolicy'),
        ['Delete', 'Recycle', 'Retain'],
      ),
    );
  const affinity = maybeObj(obj(spec, 'nodeAffinity'), 'required');
  if (has(spec, 'nodeAffinity') && affinity === undefined)
    errors.push(required(child(path, 'nodeAffinity', 'required'), 'must specify required node constraints'));
  if (affinity !== undefined) errors.push(...nodeSelector(child(path, 'nodeAffinity', 'required'), affinity));
  errors.push(
    ...volumeSourceErrors(path, spec, volumeName, (name) =>
      name === 'local' && affinity === undefined
        ? [required(child(path, 'nodeAffinity'), 'Local volume requires node affinity')]
        : [],
    ),
  );
  const hostPath = maybeObj(spec, 'hostPath');
  if (
    hostPath !== undefined &&
    str(hostPath, 'path').replace(/\/+$/, '') === '' &&
    str(hostPath, 'path') !== '' &&
    str(spec, 'persistentVolumeReclaimPolicy') === 'Recycle'
  )
    errors.push(
      forbidden(
        child(path, 'persistentVolumeReclaimPolicy'),
        "may not be 'recycle' for a hostPath mount of '/'",
      ),
    );
  errors.push(...className(path, spec, 'storageClassName'));
  if (has(spec, 'volumeMode'))
    errors.push(...supportedOnly(child(path, 'volumeMode'), str(spec, 'volumeMode'), VOLUME_MODES));
  return [...errors, ...attributesClass(path, spec)];
}

function attributesClass(path: FieldPath, spec: Obj): FieldError[] {
  const name = 'volumeAttributesClassName';
  if (!has(spec, name)) return [];
  return [
    ...(str(spec, name) === ''
      ? [required(child(path, name), 'an empty string is disallowed')]
      : className(path, spec, name)),
    ...(has(spec, 'csi') ? [] : [required(child(path, 'csi'), `has to be specified when using ${name}`)]),
  ];
}

const sourceOf = (spec: Obj): Obj =>
  Object.fromEntries(volumeSourceNames(spec).map((name) => [name, spec[name]]));
const nameOf = (volume: Obj): string => str(obj(volume, 'metadata'), 'name');

export const PersistentVolumeRules: KindRules = {
  ...CLUSTER,
  create: (volume) => [
    ...objectMeta(volume, CLUSTER),
    ...volumeSpec('spec', obj(volume, 'spec'), nameOf(volume)),
  ],
  update(volume, before) {
    const [spec, old] = [obj(volume, 'spec'), obj(before, 'spec')];
    const [source, oldSource] = [sourceOf(spec), sourceOf(old)];
    return [
      ...objectMetaUpdate(volume, before),
      ...objectMeta(volume, CLUSTER),
      ...volumeSpec('spec', spec, nameOf(volume)),
      ...(sameValue(source, oldSource)
        ? []
        : [
            forbidden(
              'spec.persistentvolumesource',
              `spec.persistentvolumesource is immutable after creation\n${differences(oldSource, source, 'spec').join('\n')}`,
            ),
          ]),
      ...immutable('volumeMode', spec['volumeMode'], old['volumeMode']),
      ...(has(old, 'nodeAffinity')
        ? immutable('nodeAffinity', spec['nodeAffinity'], old['nodeAffinity'])
        : []),
    ];
  },
};

const PARAMETERS_MAX = 512;
const PARAMETERS_BYTES_MAX = 256 * 1_024;

/** The driver that a class belongs to. */
export const qualifiedProvisioner = (path: FieldPath, name: string): FieldError[] =>
  name === ''
    ? [required(path)]
    : isQualifiedName(name.toLowerCase()).map((message) => invalid(path, name, message));

export function classParameters(path: FieldPath, parameters: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > PARAMETERS_MAX) return [tooLong(path, PARAMETERS_MAX)];
  const bytes = entries.reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0);
  return [
    ...entries.flatMap(([name]) => (name === '' ? [invalid(path, name, 'field can not be empty.')] : [])),
    ...(bytes > PARAMETERS_BYTES_MAX ? [tooLong(path, PARAMETERS_BYTES_MAX)] : []),
  ];
}

/** The values that a term allows, by key; the later of two for one key counts. */
const topologyOf = (term: Obj): Obj =>
  Object.fromEntries(
    objs(term, 'matchLabelExpressions').map((one) => [
      str(one, 'key'),
      [...new Set(strs(one, 'values'))].sort(),
    ]),
  );

function allowedTopologies(path: FieldPath, terms: readonly Obj[]): FieldError[] {
  return terms.flatMap((term, i) => {
    const at = child(index(path, i), 'matchLabelExpressions');
    const expressions = objs(term, 'matchLabelExpressions');
    const own = topologyOf(term);
    const known = terms.slice(0, i).filter((other) => sameValue(topologyOf(other), own));
    // Upstream compares with one empty term for each of the list, too.
    const empty = Object.keys(own).length === 0 ? terms : [];
    return [
      ...expressions.flatMap((one, number) => topologyErrors(index(at, number), one, expressions, number)),
      ...[...empty, ...known].map(() => duplicate(at, '')),
    ];
  });
}

function topologyErrors(path: FieldPath, one: Obj, all: readonly Obj[], number: number): FieldError[] {
  const [name, values] = [str(one, 'key'), strs(one, 'values')];
  return [
    ...(values.length === 0 ? [required(child(path, 'values'))] : []),
    ...duplicates(values, (i) => index(child(path, 'values'), i), duplicate),
    ...qualifiedName(child(path, 'key'), name),
    ...(all.slice(0, number).some((other) => str(other, 'key') === name)
      ? [duplicate(child(path, 'key'), name)]
      : []),
  ];
}

function classErrors(object: Obj): FieldError[] {
  const topologies = Array.isArray(object['allowedTopologies']) ? object['allowedTopologies'] : [];
  return [
    ...qualifiedProvisioner('provisioner', str(object, 'provisioner')),
    ...classParameters('parameters', strMap(object, 'parameters')),
    ...(str(object, 'reclaimPolicy') === ''
      ? []
      : supportedOnly('reclaimPolicy', str(object, 'reclaimPolicy'), ['Delete', 'Retain'])),
    ...(has(object, 'volumeBindingMode')
      ? supportedOnly('volumeBindingMode', str(object, 'volumeBindingMode'), [
          'Immediate',
          'WaitForFirstConsumer',
        ])
      : [required('volumeBindingMode')]),
    ...allowedTopologies('allowedTopologies', topologies.filter(isObj)),
  ];
}

export const StorageClassRules: KindRules = {
  ...CLUSTER,
  create: (object) => [...objectMeta(object, CLUSTER), ...classErrors(object)],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((name) =>
      immutable(name, object[name], before[name]),
    ),
  ],
};
