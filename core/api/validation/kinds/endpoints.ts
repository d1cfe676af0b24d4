import { format, immutable, label, labels, oneOf, portNumber, qualifiedName, subdomain } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, invalid, required, tooMany } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isLabelValue, nameIsDnsSubdomain } from '../../field/formats.ts';
import { endpointIp, ip, parseIp } from '../ip.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, obj, objs, sameValue, str, strMap, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { PROTOCOLS } from './containers.ts';

const META = { namespaced: true, name: nameIsDnsSubdomain };
const ENDPOINTS_MAX = 1_000;
const PORTS_MAX = 20_000;
const ADDRESSES_MAX = 100;
const HINTS_MAX = 8;

function address(path: FieldPath, of: Obj): FieldError[] {
  const text = str(of, 'ip');
  return [
    ...(parseIp(text) === undefined ? ip(child(path, 'ip'), text) : []),
    ...(str(of, 'hostname') === '' ? [] : label(child(path, 'hostname'), str(of, 'hostname'))),
    ...(has(of, 'nodeName') ? subdomain(child(path, 'nodeName'), str(of, 'nodeName')) : []),
    // Upstream looks at the address twice.
    ...(parseIp(text) === undefined
      ? [invalid(child(path, 'ip'), text, 'must be a valid IP address')]
      : endpointIp(child(path, 'ip'), text)),
  ];
}

const subsets = (object: Obj): FieldError[] =>
  objs(object, 'subsets').flatMap((subset, i) => {
    const at = index('subsets', i);
    const [ready, notReady, ports] = [
      objs(subset, 'addresses'),
      objs(subset, 'notReadyAddresses'),
      objs(subset, 'ports'),
    ];
    return [
      ...(ready.length + notReady.length === 0
        ? [required(at, 'must specify `addresses` or `notReadyAddresses`')]
        : []),
      ...ready.flatMap((of, a) => address(index(child(at, 'addresses'), a), of)),
      ...notReady.flatMap((of, a) => address(index(child(at, 'notReadyAddresses'), a), of)),
      ...ports.flatMap((port, p) => subsetPort(index(child(at, 'ports'), p), port, ports.length > 1)),
    ];
  });

function subsetPort(path: FieldPath, port: Obj, isNameRequired: boolean): FieldError[] {
  const name = str(port, 'name');
  return [
    ...(name === ''
      ? isNameRequired
        ? [required(child(path, 'name'))]
        : []
      : label(child(path, 'name'), name)),
    ...portNumber(child(path, 'port'), int(port, 'port')),
    ...oneOf(child(path, 'protocol'), str(port, 'protocol'), PROTOCOLS),
    ...(has(port, 'appProtocol') ? qualifiedName(child(path, 'appProtocol'), str(port, 'appProtocol')) : []),
  ];
}

export const EndpointsRules: KindRules = {
  ...META,
  create: (object) => [...objectMeta(object, META), ...subsets(object)],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...(sameValue(object['subsets'], before['subsets']) ? [] : subsets(object)),
  ],
};

function slicePorts(list: readonly Obj[]): FieldError[] {
  if (list.length > PORTS_MAX) return [tooMany('ports', list.length, PORTS_MAX)];
  const names = new Set<string>();
  return list.flatMap((port, i) => {
    const at = index('ports', i);
    const name = str(port, 'name');
    const errors = name === '' ? [] : label(child(at, 'name'), name);
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    names.add(name);
    return [
      ...errors,
      ...oneOf(child(at, 'protocol'), str(port, 'protocol'), PROTOCOLS),
      ...(has(port, 'appProtocol') ? qualifiedName(child(at, 'appProtocol'), str(port, 'appProtocol')) : []),
    ];
  });
}

function sliceAddress(path: FieldPath, i: number, text: string, type: string): FieldError[] {
  const at = index(path, i);
  if (type === 'FQDN') {
    const name = text.replace(/\.$/, '');
    if (name === '') return [required(at)];
    const errors = subdomain(at, name);
    return errors.length === 0 && !name.includes('.')
      ? [invalid(at, name, 'should be a domain with at least two segments separated by dots')]
      : errors;
  }
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const family = parseIp(text)?.family;
  if (family === undefined) return ip(at, text);
  return [
    ...(`IPv${family}` === type ? [] : [invalid(path, text, `must be an ${type} address`)]),
    ...endpointIp(at, text),
  ];
}

const isLabel = (path: FieldPath, name: string): FieldError[] => format(path, name, isLabelValue);

/** Zones are values of a label, nodes have the names of objects. */
function hints(path: FieldPath, of: Obj): FieldError[] {
  const errors: FieldError[] = [];
  for (const [field, check] of [
    ['forZones', isLabel],
    ['forNodes', subdomain],
  ] as const) {
    const at = child(path, field);
    const names = objs(of, field).map((hint) => str(hint, 'name'));
    if (names.length > HINTS_MAX) return [...errors, tooMany(at, names.length, HINTS_MAX)];
    names.forEach((name, i) => {
      const nameAt = child(index(at, i), 'name');
      if (names.indexOf(name) < i) errors.push(duplicate(nameAt, name));
      errors.push(...check(nameAt, name));
    });
  }
  return errors;
}

function sliceEndpoints(object: Obj): FieldError[] {
  const list = objs(object, 'endpoints');
  const type = str(object, 'addressType');
  if (list.length > ENDPOINTS_MAX) return [tooMany('endpoints', list.length, ENDPOINTS_MAX)];
  return list.flatMap((endpoint, i) => {
    const at = index('endpoints', i);
    const addresses = strs(endpoint, 'addresses');
    const path = child(at, 'addresses');
    return [
      ...(addresses.length === 0 ? [required(path, 'must contain at least 1 address')] : []),
      ...(addresses.length > ADDRESSES_MAX ? [tooMany(path, addresses.length, ADDRESSES_MAX)] : []),
      ...addresses.flatMap((text, a) => sliceAddress(path, a, text, type)),
      ...(has(endpoint, 'nodeName') ? subdomain(child(at, 'nodeName'), str(endpoint, 'nodeName')) : []),
      ...labels(child(at, 'deprecatedTopology'), strMap(endpoint, 'deprecatedTopology')),
      ...(has(endpoint, 'hostname') ? label(child(at, 'hostname'), str(endpoint, 'hostname')) : []),
      ...hints(child(at, 'hints'), obj(endpoint, 'hints')),
    ];
  });
}

export const EndpointSliceRules: KindRules = {
  ...META,
  create: (object) => [
    ...objectMeta(object, META),
    ...oneOf('addressType', str(object, 'addressType'), ['FQDN', 'IPv4', 'IPv6']),
    ...slicePorts(objs(object, 'ports')),
    ...sliceEndpoints(object),
  ],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...slicePorts(objs(object, 'ports')),
    ...(sameValue(object['endpoints'], before['endpoints']) ? [] : sliceEndpoints(object)),
    ...immutable('addressType', object['addressType'], before['addressType']),
  ],
};
