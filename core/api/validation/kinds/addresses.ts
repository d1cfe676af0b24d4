import { format, FIELD_IMMUTABLE, immutable } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { invalid, required } from '../../field/field-error.ts';
import { child, index } from '../../field/field-path.ts';
import type { NameCheck } from '../../field/formats.ts';
import { isDns1123Subdomain, isPathSegmentName, nameIsDnsSubdomain } from '../../field/formats.ts';
import { canonicalCidr, canonicalIp, parseCidr } from '../ip.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { maybeObj, obj, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';

/** The addresses of services, and the ranges they are taken from. */

/** The object of an address is named like it. */
const nameIsIp: NameCheck = (name) => canonicalIp('', name).map(({ detail }) => detail);

const ADDRESS = { namespaced: false, name: nameIsIp };
const RANGE = { namespaced: false, name: nameIsDnsSubdomain };
const RANGES_MAX = 2;

function parentReference(address: Obj): FieldError[] {
  const path = 'spec.parentRef';
  const parent = maybeObj(obj(address, 'spec'), 'parentRef');
  if (parent === undefined) return [required(path)];
  const segment = (name: string, isRequired: boolean): FieldError[] => {
    const value = str(parent, name);
    if (value === '') return isRequired ? [required(child(path, name))] : [];
    return isPathSegmentName(value, false).map((message) => invalid(child(path, name), value, message));
  };
  const group = str(parent, 'group');
  return [
    ...(group === '' ? [] : format(child(path, 'group'), group, isDns1123Subdomain)),
    ...segment('resource', true),
    ...segment('name', true),
    ...segment('namespace', false),
  ];
}

export const IPAddressRules: KindRules = {
  ...ADDRESS,
  create: (address) => [...objectMeta(address, ADDRESS), ...parentReference(address)],
  update: (address, before) => [
    ...objectMetaUpdate(address, before),
    ...immutable('spec.parentRef', obj(address, 'spec')['parentRef'], obj(before, 'spec')['parentRef']),
  ],
};

const rangesOf = (object: Obj): readonly string[] => strs(obj(object, 'spec'), 'cidrs');

function ranges(object: Obj): FieldError[] {
  const path = 'spec.cidrs';
  const cidrs = rangesOf(object);
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')];
  if (cidrs.length > RANGES_MAX)
    return [invalid(path, obj(object, 'spec'), `may only hold up to ${RANGES_MAX} values`)];
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  return [
    ...cidrs.flatMap((cidr, i) => canonicalCidr(index(path, i), cidr)),
    ...(cidrs.length === RANGES_MAX && first !== undefined && first === second
      ? [
          invalid(
            path,
            cidrs,
            'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
          ),
        ]
      : []),
  ];
}

export const ServiceCIDRRules: KindRules = {
  ...RANGE,
  create: (object) => [...objectMeta(object, RANGE), ...ranges(object)],
  update(object, before) {
    const [cidrs, old] = [rangesOf(object), rangesOf(before)];
    const errors = objectMetaUpdate(object, before);
    const changed = (i: number): FieldError[] =>
      cidrs[i] === old[i] ? [] : [invalid(index('spec.cidrs', i), cidrs[i], FIELD_IMMUTABLE)];
    if (cidrs.length === old.length) return [...errors, ...old.flatMap((_, i) => changed(i))];
    // The one change that is allowed: a range of the other family joins.
    if (old.length === 1 && cidrs.length === RANGES_MAX) return [...errors, ...changed(0), ...ranges(object)];
    return sameValue(cidrs, old) ? [...errors] : [...errors, invalid('spec.cidrs', cidrs, FIELD_IMMUTABLE)];
  },
};
