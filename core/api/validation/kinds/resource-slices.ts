import { duplicates, format, immutable, label, oneOf } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, invalid, required, tooLong, tooMany } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index, key } from '../../field/field-path.ts';
import { isLabelValue, isQualifiedName, nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, isObj, isTrue, maybeObj, obj, objs, str } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { driverName } from './driver-name.ts';
import { bounded, deviceQualifiedName, poolName, TAINT_EFFECTS } from './resource-claims.ts';
import { nodeSelector } from './scheduling.ts';

/** What drivers tell of their devices. */

const META = { namespaced: false, name: nameIsDnsSubdomain };
const DEVICES_MAX = 128;
const DEVICES_WITH_MORE_MAX = 64;
const COUNTER_SETS_MAX = 8;
const TRAITS_MAX = 32;
const TAINTS_MAX = 16;
const VALUE_BYTES_MAX = 64;
const VALUES = ['bool', 'int', 'string', 'version', 'bools', 'ints', 'strings', 'versions'];
const PLACES = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'];
const ONE_PLACE = `exactly one of ${PLACES.map((name) => `\`${name}\``).join(', ')} is required`;

function pool(path: FieldPath, of: Obj): FieldError[] {
  const count = int(of, 'resourceSliceCount');
  return [
    ...poolName(child(path, 'name'), str(of, 'name')),
    ...(count > 0 ? [] : [invalid(child(path, 'resourceSliceCount'), count, 'must be greater than zero')]),
    ...(int(of, 'generation') < 0
      ? [invalid(child(path, 'generation'), int(of, 'generation'), 'must be greater than or equal to zero')]
      : []),
  ];
}

/** Which nodes the devices can be used from. */
function placement(path: FieldPath, spec: Obj): FieldError[] {
  const flag = (name: string): FieldError[] =>
    spec[name] === false ? [invalid(child(path, name), false, 'must be either unset or set to true')] : [];
  const selection = maybeObj(spec, 'nodeSelector');
  const nodeName = str(spec, 'nodeName');
  const chosen = PLACES.filter((name) => has(spec, name) && spec[name] !== false && spec[name] !== '');
  return [
    ...(!has(spec, 'nodeName')
      ? []
      : nodeName === ''
        ? [invalid(child(path, 'nodeName'), '', 'must be either unset or set to a non-empty string')]
        : nameIsDnsSubdomain(nodeName, false).map((message) =>
            invalid(child(path, 'nodeName'), nodeName, message),
          )),
    ...(selection === undefined ? [] : nodeSelector(child(path, 'nodeSelector'), selection)),
    ...(selection !== undefined && objs(selection, 'nodeSelectorTerms').length !== 1
      ? [
          invalid(
            child(path, 'nodeSelector', 'nodeSelectorTerms'),
            objs(selection, 'nodeSelectorTerms'),
            'must have exactly one node selector term',
          ),
        ]
      : []),
    ...flag('allNodes'),
    ...flag('perDeviceNodeSelection'),
    ...(chosen.length === 0 ? [required(path, ONE_PLACE)] : []),
    ...(chosen.length > 1
      ? [
          invalid(
            path,
            `{${chosen.map((name) => `\`${name}\``).join(', ')}}`,
            `${ONE_PLACE}, but multiple fields are set`,
          ),
        ]
      : []),
  ];
}

function attribute(path: FieldPath, of: Obj): FieldError[] {
  const set = VALUES.filter((name) => has(of, name));
  if (set.length !== 1)
    return [invalid(path, set.length === 0 ? '' : of, 'exactly one value must be specified')];
  return ['string', 'version'].flatMap((name) =>
    byteLength(str(of, name)) > VALUE_BYTES_MAX ? [tooLong(child(path, name), VALUE_BYTES_MAX)] : [],
  );
}

function taint(path: FieldPath, of: Obj): FieldError[] {
  return [
    ...format(child(path, 'key'), str(of, 'key'), isQualifiedName),
    ...(str(of, 'value') === '' ? [] : format(child(path, 'value'), str(of, 'value'), isLabelValue)),
    ...oneOf(child(path, 'effect'), str(of, 'effect'), TAINT_EFFECTS),
  ];
}

function device(path: FieldPath, of: Obj): FieldError[] {
  const [attributes, capacity] = [Object.entries(obj(of, 'attributes')), Object.entries(obj(of, 'capacity'))];
  const traits = attributes.length + capacity.length;
  return [
    ...label(child(path, 'name'), str(of, 'name')),
    ...(traits > TRAITS_MAX
      ? [invalid(path, traits, `the total number of attributes and capacities must not exceed ${TRAITS_MAX}`)]
      : []),
    ...attributes.flatMap(([name, value]) => {
      const at = key(child(path, 'attributes'), name);
      return [...deviceQualifiedName(at, name), ...(isObj(value) ? attribute(at, value) : [])];
    }),
    ...capacity.flatMap(([name]) => deviceQualifiedName(key(child(path, 'capacity'), name), name)),
    ...bounded(child(path, 'taints'), objs(of, 'taints'), TAINTS_MAX, taint),
  ];
}

const DEVICE_PLACES = PLACES.slice(0, 3);
const ONE_DEVICE_PLACE =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

/** Each device has nodes of its own only where the slice says so. */
function devicePlacement(path: FieldPath, of: Obj, isPerDevice: boolean): FieldError[] {
  const set = DEVICE_PLACES.filter((name) => has(of, name));
  if (!isPerDevice)
    return set.length === 0
      ? []
      : [
          invalid(
            path,
            null,
            '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
          ),
        ];
  if (set.length === 1) return [];
  return set.length === 0
    ? [required(path, ONE_DEVICE_PLACE)]
    : [invalid(path, `{${set.map((name) => `\`${name}\``).join(', ')}}`, ONE_DEVICE_PLACE)];
}

const usesMore = (of: Obj): boolean =>
  objs(of, 'taints').length > 0 ||
  objs(of, 'consumesCounters').length > 0 ||
  Object.values(obj(of, 'attributes')).some(
    (value) => isObj(value) && ['bools', 'ints', 'strings', 'versions'].some((name) => has(value, name)),
  );

function sliceSpec(spec: Obj): FieldError[] {
  const devices = objs(spec, 'devices');
  const counters = objs(spec, 'sharedCounters');
  const devicesMax = devices.some(usesMore) ? DEVICES_WITH_MORE_MAX : DEVICES_MAX;
  const unique = (path: FieldPath, items: readonly Obj[]): FieldError[] =>
    duplicates(
      items.map((item) => str(item, 'name')),
      (i) => index(path, i),
      duplicate,
    );
  return [
    ...driverName('spec.driver', str(spec, 'driver')),
    ...pool('spec.pool', obj(spec, 'pool')),
    ...placement('spec', spec),
    ...(has(spec, 'sharedCounters') && has(spec, 'devices')
      ? [invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...(devices.length > devicesMax
      ? [tooMany('spec.devices', devices.length, devicesMax)]
      : [
          ...devices.flatMap((of, i) => device(index('spec.devices', i), of)),
          ...unique('spec.devices', devices),
        ]),
    ...bounded('spec.sharedCounters', counters, COUNTER_SETS_MAX, (at, of) =>
      label(child(at, 'name'), str(of, 'name')),
    ),
    ...unique('spec.sharedCounters', counters),
    ...devices.flatMap((of, i) =>
      devicePlacement(index('spec.devices', i), of, isTrue(spec, 'perDeviceNodeSelection')),
    ),
  ];
}

export const ResourceSliceRules: KindRules = {
  ...META,
  create: (slice) => [...objectMeta(slice, META), ...sliceSpec(obj(slice, 'spec'))],
  update(slice, before) {
    const [spec, old] = [obj(slice, 'spec'), obj(before, 'spec')];
    return [
      ...objectMetaUpdate(slice, before),
      ...sliceSpec(spec),
      ...immutable('spec.pool.name', obj(spec, 'pool')['name'], obj(old, 'pool')['name']),
      ...immutable('spec.driver', spec['driver'], old['driver']),
      ...immutable('spec.nodeName', spec['nodeName'], old['nodeName']),
    ];
  },
};
