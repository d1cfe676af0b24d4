import { jsonText } from '../../meta/json-text.ts';
import { duplicates, format, immutable, label, labels, oneOf, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, required, tooLong, tooMany } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import {
  isCIdentifier,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  nameIsDnsSubdomain,
} from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { annotations, objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, isObj, maybeObj, obj, objs, sameValue, str, strMap, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { driverName } from './driver-name.ts';
import { nodeSelector } from './scheduling.ts';

/** Claims for devices, and the classes they ask by. The server compiles selectors in CEL. */

const NAMESPACED = { namespaced: true, name: nameIsDnsSubdomain };
const CLUSTER = { namespaced: false, name: nameIsDnsSubdomain };
const REQUESTS_MAX = 32;
const CONSTRAINTS_MAX = 32;
const CONFIGS_MAX = 32;
const SELECTORS_MAX = 32;
const RESULTS_MAX = 32;
const POOL_NAME_BYTES_MAX = 253;
const FIRST_AVAILABLE_MAX = 8;
const RESERVED_FOR_MAX = 256;
const EXPRESSION_BYTES_MAX = 10 * 1_024;
const PARAMETERS_BYTES_MAX = 10 * 1_024;
const IDENTIFIER_BYTES_MAX = 32;
const ALLOCATION_MODES = ['All', 'ExactCount'];
const TOLERATION_OPERATORS = ['Equal', 'Exists'];
export const TAINT_EFFECTS = ['NoExecute', 'NoSchedule', 'None'];
const NOT_A_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** A list with a bound: beyond it nothing inside is looked at. */
export function bounded<T>(
  path: FieldPath,
  items: readonly T[],
  itemsMax: number,
  check: (at: FieldPath, item: T) => FieldError[],
): FieldError[] {
  if (items.length > itemsMax) return [tooMany(path, items.length, itemsMax)];
  return items.flatMap((item, i) => check(index(path, i), item));
}

const unique = (path: FieldPath, names: readonly string[]): FieldError[] =>
  duplicates(names, (i) => index(path, i), duplicate);

const selector = (path: FieldPath, of: Obj): FieldError[] => {
  const cel = maybeObj(of, 'cel');
  if (cel === undefined) return [required(child(path, 'cel'))];
  const expression = str(cel, 'expression');
  const at = child(path, 'cel', 'expression');
  return byteLength(expression) > EXPRESSION_BYTES_MAX ? [tooLong(at, EXPRESSION_BYTES_MAX)] : [];
};

function toleration(path: FieldPath, of: Obj): FieldError[] {
  const [key, operator, value, effect] = [
    str(of, 'key'),
    str(of, 'operator'),
    str(of, 'value'),
    str(of, 'effect'),
  ];
  return [
    ...(key === '' ? [] : format(child(path, 'key'), key, isQualifiedName)),
    ...oneOf(child(path, 'operator'), operator, TOLERATION_OPERATORS),
    ...(operator === 'Exists' && value !== ''
      ? [invalid(child(path, 'value'), value, 'must be empty for operator `Exists`')]
      : []),
    ...(operator === 'Equal' ? format(child(path, 'value'), value, isLabelValue) : []),
    ...(effect === '' ? [] : supportedOnly(child(path, 'effect'), effect, TAINT_EFFECTS)),
  ];
}

function exactRequest(path: FieldPath, of: Obj): FieldError[] {
  const className = str(of, 'deviceClassName');
  const [mode, count] = [str(of, 'allocationMode'), int(of, 'count')];
  return [
    ...(className === ''
      ? [required(child(path, 'deviceClassName'))]
      : format(child(path, 'deviceClassName'), className, isDns1123Subdomain)),
    ...bounded(child(path, 'selectors'), objs(of, 'selectors'), SELECTORS_MAX, selector),
    ...supportedOnly(child(path, 'allocationMode'), mode, ALLOCATION_MODES),
    ...(mode === 'All' && count !== 0
      ? [invalid(child(path, 'count'), count, "must not be specified when allocationMode is 'All'")]
      : []),
    ...(mode === 'ExactCount' && count <= 0
      ? [invalid(child(path, 'count'), count, 'must be greater than zero')]
      : []),
    ...objs(of, 'tolerations').flatMap((one, i) => toleration(index(child(path, 'tolerations'), i), one)),
  ];
}

function request(path: FieldPath, of: Obj): FieldError[] {
  const alternatives = objs(of, 'firstAvailable');
  const exactly = maybeObj(of, 'exactly');
  const errors = label(child(path, 'name'), str(of, 'name'));
  if (alternatives.length === 0 && exactly === undefined)
    return [...errors, required(path, 'exactly one of `exactly` or `firstAvailable` is required')];
  if (alternatives.length > 0 && exactly !== undefined)
    return [
      ...errors,
      invalid(
        path,
        null,
        'exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
      ),
    ];
  if (exactly !== undefined) return [...errors, ...exactRequest(child(path, 'exactly'), exactly)];
  const at = child(path, 'firstAvailable');
  return [
    ...errors,
    ...bounded(at, alternatives, FIRST_AVAILABLE_MAX, (place, one) => [
      ...label(child(place, 'name'), str(one, 'name')),
      ...exactRequest(place, one),
    ]),
    ...unique(
      at,
      alternatives.map((one) => str(one, 'name')),
    ),
  ];
}

/** What requests of a claim may be called: by name, and by name and alternative. */
const requestNames = (devices: Obj): ReadonlySet<string> =>
  new Set(
    objs(devices, 'requests').flatMap((of) => [
      str(of, 'name'),
      ...objs(of, 'firstAvailable').map((one) => `${str(of, 'name')}/${str(one, 'name')}`),
    ]),
  );

const requestName = (path: FieldPath, name: string, known: ReadonlySet<string>): FieldError[] => {
  const segments = name.split('/');
  if (segments.length > 2) return [invalid(path, name, NOT_A_REQUEST)];
  return [
    ...segments.flatMap((segment) => label(path, segment)),
    ...(known.has(name) ? [] : [invalid(path, name, NOT_A_REQUEST)]),
  ];
};

const requestRefs = (path: FieldPath, of: Obj, known: ReadonlySet<string>): FieldError[] => {
  const at = child(path, 'requests');
  const names = strs(of, 'requests');
  return [
    ...bounded(at, names, REQUESTS_MAX, (place, name) => requestName(place, name, known)),
    ...unique(at, names),
  ];
};

const identifier = (path: FieldPath, id: string): FieldError[] => [
  ...(byteLength(id) > IDENTIFIER_BYTES_MAX ? [tooLong(path, IDENTIFIER_BYTES_MAX)] : []),
  ...format(path, id, isCIdentifier),
];

/** The name of an attribute or a capacity; without a domain it is the driver's. */
export function deviceQualifiedName(path: FieldPath, name: string): FieldError[] {
  const slash = name.indexOf('/');
  if (slash < 0) return identifier(path, name);
  const [domain, id] = [name.slice(0, slash), name.slice(slash + 1)];
  return [
    ...(domain === '' ? [invalid(path, '', 'the domain must not be empty')] : driverName(path, domain)),
    ...(id === '' ? [invalid(path, '', 'the name must not be empty')] : identifier(path, id)),
  ];
}

const fullyQualified = (path: FieldPath, name: string): FieldError[] => [
  ...deviceQualifiedName(path, name),
  ...(name.includes('/')
    ? []
    : [invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash')]),
];

function constraint(path: FieldPath, of: Obj, known: ReadonlySet<string>): FieldError[] {
  const attribute = ['matchAttribute', 'distinctAttribute'].find((name) => has(of, name));
  return [
    ...requestRefs(path, of, known),
    ...(attribute === undefined
      ? [required(child(path, 'matchAttribute'))]
      : fullyQualified(child(path, attribute), str(of, attribute))),
  ];
}

function configuration(path: FieldPath, of: Obj): FieldError[] {
  const opaque = maybeObj(of, 'opaque');
  if (opaque === undefined) return [required(child(path, 'opaque'))];
  const at = child(path, 'opaque', 'parameters');
  const parameters = opaque['parameters'];
  return [
    ...driverName(child(path, 'opaque', 'driver'), str(opaque, 'driver')),
    ...(parameters === undefined || parameters === null
      ? [required(at)]
      : byteLength(jsonText(parameters)) > PARAMETERS_BYTES_MAX
        ? [tooLong(at, PARAMETERS_BYTES_MAX)]
        : isObj(parameters)
          ? []
          : [invalid(at, '<value omitted>', 'must be a valid JSON object')]),
  ];
}

function claimSpec(path: FieldPath, spec: Obj): FieldError[] {
  const at = child(path, 'devices');
  const devices = obj(spec, 'devices');
  const known = requestNames(devices);
  const requests = objs(devices, 'requests');
  return [
    ...bounded(child(at, 'requests'), requests, REQUESTS_MAX, request),
    ...unique(
      child(at, 'requests'),
      requests.map((of) => str(of, 'name')),
    ),
    ...bounded(child(at, 'constraints'), objs(devices, 'constraints'), CONSTRAINTS_MAX, (place, of) =>
      constraint(place, of, known),
    ),
    ...bounded(child(at, 'config'), objs(devices, 'config'), CONFIGS_MAX, (place, of) => [
      ...requestRefs(place, of, known),
      ...configuration(place, of),
    ]),
  ];
}

export function poolName(path: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(path)];
  return [
    ...(byteLength(name) > POOL_NAME_BYTES_MAX ? [tooLong(path, POOL_NAME_BYTES_MAX)] : []),
    ...name.split('/').flatMap((part) => format(path, part, isDns1123Subdomain)),
  ];
}

function allocation(path: FieldPath, of: Obj, known: ReadonlySet<string>): FieldError[] {
  const at = child(path, 'devices');
  const devices = obj(of, 'devices');
  const selection = maybeObj(of, 'nodeSelector');
  return [
    ...bounded(child(at, 'results'), objs(devices, 'results'), RESULTS_MAX, (place, result) => [
      ...requestName(child(place, 'request'), str(result, 'request'), known),
      ...driverName(child(place, 'driver'), str(result, 'driver')),
      ...poolName(child(place, 'pool'), str(result, 'pool')),
      ...label(child(place, 'device'), str(result, 'device')),
    ]),
    ...bounded(child(at, 'config'), objs(devices, 'config'), 2 * CONFIGS_MAX, (place, config) => [
      ...oneOf(child(place, 'source'), str(config, 'source'), ['FromClaim', 'FromClass']),
      ...requestRefs(place, config, known),
      ...configuration(place, config),
    ]),
    ...(selection === undefined ? [] : nodeSelector(child(path, 'nodeSelector'), selection)),
  ];
}

function claimStatus(claim: Obj, before: Obj): FieldError[] {
  const [status, old] = [obj(claim, 'status'), obj(before, 'status')];
  const reserved = objs(status, 'reservedFor');
  const granted = maybeObj(status, 'allocation');
  const isDeleted = has(obj(claim, 'metadata'), 'deletionTimestamp');
  const isNew = (one: Obj): boolean => !objs(old, 'reservedFor').some((other) => sameValue(one, other));
  const at = 'status.reservedFor';
  return [
    ...objectMetaUpdate(claim, before),
    ...bounded(at, reserved, RESERVED_FOR_MAX, (place, one) =>
      ['resource', 'name', 'uid'].flatMap((name) =>
        str(one, name) === '' ? [required(child(place, name))] : [],
      ),
    ),
    ...unique(
      at,
      reserved.map((one) => str(one, 'uid')),
    ),
    ...(reserved.length > 0 && granted === undefined
      ? [forbidden(at, 'may not be specified when `allocated` is not set')]
      : []),
    ...(granted !== undefined && isDeleted && reserved.some(isNew)
      ? [
          forbidden(
            at,
            'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
          ),
        ]
      : []),
    // What was granted stays; it was checked when it was, and rules have grown since.
    ...(granted === undefined
      ? []
      : has(old, 'allocation')
        ? immutable('status.allocation', granted, old['allocation'])
        : allocation('status.allocation', granted, requestNames(obj(obj(claim, 'spec'), 'devices')))),
  ];
}

export const ResourceClaimRules: KindRules = {
  ...NAMESPACED,
  create: (claim) => [...objectMeta(claim, NAMESPACED), ...claimSpec('spec', obj(claim, 'spec'))],
  update: (claim, before) => [
    ...objectMeta(claim, NAMESPACED),
    ...objectMetaUpdate(claim, before),
    ...immutable('spec', claim['spec'], before['spec']),
  ],
  subresources: { status: claimStatus },
};

export const ResourceClaimTemplateRules: KindRules = {
  ...NAMESPACED,
  create(template) {
    const spec = obj(template, 'spec');
    const metadata = obj(spec, 'metadata');
    return [
      ...objectMeta(template, NAMESPACED),
      ...labels('spec.metadata.labels', strMap(metadata, 'labels')),
      ...annotations('spec.metadata.annotations', strMap(metadata, 'annotations')),
      ...claimSpec('spec.spec', obj(spec, 'spec')),
    ];
  },
  update: (template, before) => [
    ...objectMetaUpdate(template, before),
    ...immutable('spec', template['spec'], before['spec']),
  ],
};

const isExtendedResource = (name: string): boolean =>
  name.includes('/') &&
  !/(^|\.)kubernetes\.io\//.test(name) &&
  !name.startsWith('requests.') &&
  isQualifiedName(`requests.${name}`).length === 0;

function deviceClass(object: Obj): FieldError[] {
  const spec = obj(object, 'spec');
  const extended = str(spec, 'extendedResourceName');
  return [
    ...objectMeta(object, CLUSTER),
    ...bounded('spec.selectors', objs(spec, 'selectors'), SELECTORS_MAX, selector),
    ...bounded('spec.config', objs(spec, 'config'), CONFIGS_MAX, configuration),
    ...(has(spec, 'extendedResourceName') && !isExtendedResource(extended)
      ? [invalid('spec.extendedResourceName', extended, 'must be a valid extended resource name')]
      : []),
  ];
}

export const DeviceClassRules: KindRules = {
  ...CLUSTER,
  create: deviceClass,
  update: (object, before) => [...objectMetaUpdate(object, before), ...deviceClass(object)],
};
