import type { Quantity } from '../../quantity/quantity.ts';
import { ofUnits } from '../../quantity/quantity.ts';
import { qualifiedName, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index, key } from '../../field/field-path.ts';
import { isLabelValue, nameIsDnsLabel, nameIsDnsSubdomain } from '../../field/formats.ts';
import { cidr, parseCidr } from '../ip.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { obj, objs, quantities, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { containerResourceName, resourceName, resourceQuantity } from './resources.ts';
import { TAINT_EFFECTS } from './scheduling.ts';

/** Namespaces, nodes, and the limits within a namespace. */

const NAMESPACE_META = { namespaced: false, name: nameIsDnsLabel };

function namespaceFinalizers(namespace: Obj): FieldError[] {
  return strs(obj(namespace, 'spec'), 'finalizers').flatMap((name) => {
    const errors = qualifiedName('spec.finalizers', name);
    return !name.includes('/') && name !== 'kubernetes'
      ? [
          ...errors,
          invalid(
            'spec.finalizers',
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ]
      : errors;
  });
}

function namespaceStatus(namespace: Obj, before: Obj): FieldError[] {
  const isDeleted = str(obj(namespace, 'metadata'), 'deletionTimestamp') !== '';
  const phase = str(obj(namespace, 'status'), 'phase');
  const wanted = isDeleted ? 'Terminating' : 'Active';
  const why = isDeleted
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [
    ...objectMetaUpdate(namespace, before),
    ...(phase === wanted ? [] : [invalid('status.Phase', phase, why)]),
  ];
}

export const NamespaceRules: KindRules = {
  ...NAMESPACE_META,
  create: (namespace) => [...objectMeta(namespace, NAMESPACE_META), ...namespaceFinalizers(namespace)],
  update: (namespace, before) => objectMetaUpdate(namespace, before),
  subresources: { status: namespaceStatus },
};

/** As upstream shows it: by the names of its Go fields. */
const goTaint = (taint: Obj): Obj => ({
  Key: str(taint, 'key'),
  Value: str(taint, 'value'),
  Effect: str(taint, 'effect'),
  TimeAdded: taint['timeAdded'] ?? null,
});

const NODE_META = { namespaced: false, name: nameIsDnsSubdomain };

function taints(path: FieldPath, list: readonly Obj[]): FieldError[] {
  const seen = new Set<string>();
  return list.flatMap((taint, i) => {
    const at = index(path, i);
    const effect = str(taint, 'effect');
    const wrong = isLabelValue(str(taint, 'value'));
    const id = `${effect} ${str(taint, 'key')}`;
    const errors = [
      ...qualifiedName(child(at, 'key'), str(taint, 'key')),
      ...(wrong.length > 0 ? [invalid(child(at, 'value'), str(taint, 'value'), wrong.join(';'))] : []),
      ...(effect === ''
        ? [required(child(at, 'effect'))]
        : supportedOnly(child(at, 'effect'), effect, TAINT_EFFECTS)),
      ...(seen.has(id)
        ? [{ ...duplicate(at, goTaint(taint)), detail: 'taints must be unique by key and effect pair' }]
        : []),
    ];
    seen.add(id);
    return errors;
  });
}

const nodeResources = (node: Obj): FieldError[] =>
  ['capacity', 'allocatable'].flatMap((name) =>
    quantities(obj(node, 'status'), name).flatMap(([resource, amount]) =>
      resourceQuantity(key(child('status', name), resource), resource, amount),
    ),
  );

function podCidrs(node: Obj): FieldError[] {
  const ranges = strs(obj(node, 'spec'), 'podCIDRs');
  const families = ranges.map((range) => parseCidr(range)?.family);
  return [
    ...ranges.flatMap((range, i) => cidr(index('spec.podCIDRs', i), range)),
    ...(ranges.length > 1 && new Set(families).size !== ranges.length
      ? [invalid('spec.podCIDRs', ranges, 'may specify no more than one CIDR for each IP family')]
      : []),
  ];
}

function nodeUpdate(node: Obj, before: Obj): FieldError[] {
  const [spec, old] = [obj(node, 'spec'), obj(before, 'spec')];
  const addresses = objs(obj(node, 'status'), 'addresses');
  const seen = new Set<string>();
  const errors = [...objectMetaUpdate(node, before), ...nodeResources(node)];
  addresses.forEach((address, i) => {
    const id = `${str(address, 'type')} ${str(address, 'address')}`;
    if (seen.has(id)) errors.push(duplicate(index('status.addresses', i), address));
    seen.add(id);
  });
  if (strs(old, 'podCIDRs').length > 0 && !sameValue(spec['podCIDRs'], old['podCIDRs']))
    errors.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  const [id, oldId] = [str(spec, 'providerID'), str(old, 'providerID')];
  if (oldId !== '' && id !== oldId)
    errors.push(
      forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'),
    );
  return [...errors, ...taints('metadata.taints', objs(spec, 'taints'))];
}

export const NodeRules: KindRules = {
  ...NODE_META,
  create: (node) => [
    ...objectMeta(node, NODE_META),
    ...taints('metadata.taints', objs(obj(node, 'spec'), 'taints')),
    ...nodeResources(node),
    ...podCidrs(node),
  ],
  update: nodeUpdate,
  subresources: { status: nodeUpdate },
};

const META = { namespaced: true, name: nameIsDnsSubdomain };
const LIMIT_TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

interface Limits {
  readonly min?: Quantity | undefined;
  readonly max?: Quantity | undefined;
  readonly default?: Quantity | undefined;
  readonly defaultRequest?: Quantity | undefined;
  readonly ratio?: Quantity | undefined;
}

const isAbove = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
  a !== undefined && b !== undefined && a.compare(b) > 0;

function limitErrors(path: FieldPath, name: string, limits: Limits): FieldError[] {
  const { min, max, default: limit, defaultRequest: request, ratio } = limits;
  const at = (field: string): FieldPath => key(child(path, field), name);
  const errors: FieldError[] = [];
  const compare = (
    [above, aboveText]: readonly [Quantity | undefined, string],
    [below, belowText]: readonly [Quantity | undefined, string],
    where: readonly [string, Quantity | undefined],
  ): void => {
    if (isAbove(above, below))
      errors.push(
        invalid(
          at(where[0]),
          where[1]?.toString(),
          `${aboveText} value ${above?.toString()} is greater than ${belowText} value ${below?.toString()}`,
        ),
      );
  };
  compare([min, 'min'], [max, 'max'], ['min', min]);
  compare([min, 'min'], [request, 'default request'], ['defaultRequest', request]);
  compare([request, 'default request'], [max, 'max'], ['defaultRequest', request]);
  compare([request, 'default request'], [limit, 'default limit'], ['defaultRequest', request]);
  compare([min, 'min'], [limit, 'default'], ['default', min]);
  compare([limit, 'default'], [max, 'max'], ['default', max]);
  if (ratio !== undefined && ratio.compare(ofUnits(1n)) < 0)
    errors.push(
      invalid(at('maxLimitRequestRatio'), ratio.toString(), `ratio ${ratio.toString()} is less than 1`),
    );
  if (ratio !== undefined && min !== undefined && max !== undefined && min.sign > 0) {
    const highest = max.toNumber() / min.toNumber();
    if (ratio.toNumber() > highest)
      errors.push(
        invalid(
          at('maxLimitRequestRatio'),
          ratio.toString(),
          `ratio ${ratio.toString()} is greater than max/min = ${highest.toFixed(6)}`,
        ),
      );
  }
  return errors;
}

function limitRange(object: Obj): FieldError[] {
  const seen = new Set<string>();
  return objs(obj(object, 'spec'), 'limits').flatMap((limit, i) => {
    const at = index('spec.limits', i);
    const type = str(limit, 'type');
    const errors = qualifiedName(child(at, 'type'), type);
    if (errors.length === 0 && !type.includes('/') && !LIMIT_TYPES.includes(type))
      errors.push(invalid(child(at, 'type'), type, 'must be a standard limit type or fully qualified'));
    if (seen.has(type)) errors.push(duplicate(child(at, 'type'), type));
    seen.add(type);
    const names = new Set<string>();
    const read = (field: string): Map<string, Quantity> => {
      const amounts = new Map(quantities(limit, field));
      for (const name of amounts.keys()) {
        const where = key(child(at, field), name);
        errors.push(
          ...(type === 'Pod' || type === 'Container'
            ? containerResourceName(where, name)
            : resourceName(where, name)),
        );
        names.add(name);
      }
      return amounts;
    };
    const [max, min] = [read('max'), read('min')];
    if (type === 'Pod')
      for (const field of ['default', 'defaultRequest'])
        if (quantities(limit, field).length > 0)
          errors.push(forbidden(child(at, field), "may not be specified when `type` is 'Pod'"));
    const isPod = type === 'Pod';
    const defaults = isPod ? new Map<string, Quantity>() : read('default');
    const requests = isPod ? new Map<string, Quantity>() : read('defaultRequest');
    if (type === 'PersistentVolumeClaim' && !min.has('storage') && !max.has('storage'))
      errors.push(
        required(
          child(at, 'limits'),
          'either minimum or maximum storage value is required, but neither was provided',
        ),
      );
    const ratios = read('maxLimitRequestRatio');
    for (const name of names)
      errors.push(
        ...limitErrors(at, name, {
          min: min.get(name),
          max: max.get(name),
          default: defaults.get(name),
          defaultRequest: requests.get(name),
          ratio: ratios.get(name),
        }),
      );
    return errors;
  });
}

const limitRangeErrors = (object: Obj): FieldError[] => [...objectMeta(object, META), ...limitRange(object)];

export const LimitRangeRules: KindRules = {
  ...META,
  create: limitRangeErrors,
  update: (object, before) => [...objectMetaUpdate(object, before), ...limitRange(object)],
};
