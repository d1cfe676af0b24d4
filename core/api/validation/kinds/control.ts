import { decodeBase64 } from '../base64.ts';
import { duplicates, immutable, labels, oneOf, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import type { FormatCheck } from '../../field/formats.ts';
import { isDns1123Label, isDns1123Subdomain, nameIsDnsSubdomain } from '../../field/formats.ts';
import { goQuote } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, num, obj, objs, sameValue, str, strMap, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { resourceRequirements } from './resources.ts';
import { tolerations } from './scheduling.ts';

/** Leases, priority and runtime classes, certificate signing requests: small kinds of the control plane. */

const CLUSTER = { namespaced: false, name: nameIsDnsSubdomain };
const LEASE_META = { namespaced: true, name: nameIsDnsSubdomain, allowsBareFinalizers: true };

function leaseSpec(lease: Obj): FieldError[] {
  const spec = obj(lease, 'spec');
  const seconds = num(spec, 'leaseDurationSeconds');
  const transitions = num(spec, 'leaseTransitions');
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...(transitions !== undefined && transitions < 0
      ? [invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
    ...(str(spec, 'preferredHolder') !== '' && str(spec, 'strategy') === ''
      ? [forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined')]
      : []),
  ];
}

export const LeaseRules: KindRules = {
  ...LEASE_META,
  create: (lease) => [...objectMeta(lease, LEASE_META), ...leaseSpec(lease)],
  update: (lease, before) => [...objectMetaUpdate(lease, before), ...leaseSpec(lease)],
};

export const USER_PRIORITY_MAX = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

function priorityClass(object: Obj): FieldError[] {
  const name = str(obj(object, 'metadata'), 'name');
  const value = int(object, 'value');
  const errors: FieldError[] = [];
  if (name.startsWith(SYSTEM_PREFIX)) {
    const known = SYSTEM_CLASSES[name];
    const why =
      known === undefined
        ? `${name} is not a known system priority class`
        : value === known
          ? undefined
          : `value of ${name} PriorityClass must be ${known}`;
    if (why !== undefined)
      errors.push(
        forbidden(
          'metadata.name',
          `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${why}`,
        ),
      );
  } else if (value > USER_PRIORITY_MAX) {
    errors.push(
      forbidden('value', `maximum allowed value of a user defined priority is ${USER_PRIORITY_MAX}`),
    );
  }
  if (has(object, 'preemptionPolicy'))
    errors.push(
      ...oneOf('preemptionPolicy', str(object, 'preemptionPolicy'), ['PreemptLowerPriority', 'Never']),
    );
  return errors;
}

export const PriorityClassRules: KindRules = {
  ...CLUSTER,
  create: (object) => [...objectMeta(object, CLUSTER), ...priorityClass(object)],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...(int(object, 'value') === int(before, 'value')
      ? []
      : [forbidden('value', 'may not be changed in an update.')]),
    ...immutable('preemptionPolicy', object['preemptionPolicy'], before['preemptionPolicy']),
  ],
};

function runtimeClass(object: Obj): FieldError[] {
  const handler = str(object, 'handler');
  const scheduling = obj(object, 'scheduling');
  const overhead = obj(object, 'overhead');
  return [
    ...(handler === ''
      ? [required('handler')]
      : isDns1123Label(handler).map((message) => invalid('handler', handler, message))),
    ...resourceRequirements('overhead', { limits: overhead['podFixed'] }, new Set()),
    ...labels('scheduling.nodeSelector', strMap(scheduling, 'nodeSelector')),
    ...tolerations('scheduling.tolerations', objs(scheduling, 'tolerations')),
    ...repeatedTolerations('scheduling.tolerations', objs(scheduling, 'tolerations')),
  ];
}

/** As upstream shows them: by the names of their Go fields. */
const repeatedTolerations = (path: FieldPath, of: readonly Obj[]): FieldError[] =>
  of.flatMap((one, i) => {
    const shown = {
      Key: str(one, 'key'),
      Operator: str(one, 'operator'),
      Value: str(one, 'value'),
      Effect: str(one, 'effect'),
      TolerationSeconds: one['tolerationSeconds'] ?? null,
    };
    return of.slice(0, i).some((other) => sameValue(one, other)) ? [duplicate(index(path, i), shown)] : [];
  });

export const RuntimeClassRules: KindRules = {
  ...CLUSTER,
  create: (object) => [...objectMeta(object, CLUSTER), ...runtimeClass(object)],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...immutable('handler', object['handler'], before['handler']),
  ],
};

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const SIGNER_SECONDS_MIN = 600;
/** Names of old clients are hashes in base64, slashes included. */
const CSR_META = { namespaced: false, name: () => [] };

function signerName(name: string): FieldError[] {
  const path = 'spec.signerName';
  if (name === '') return [required(path)];
  if (name === 'kubernetes.io/legacy-unknown')
    return [invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  const segments = name.split('/');
  const [domain = '', ...rest] = segments;
  if (segments.length !== 2)
    return [
      invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  const labelled = (part: string, check: FormatCheck): FieldError[] => {
    for (const label of part.split('.')) {
      const [first] = check(label);
      // One wrong label says enough; the others would read the same.
      if (first !== undefined) return [invalid(path, part, `validating label ${goQuote(label)}: ${first}`)];
    }
    return [];
  };
  return [
    ...labelled(domain, isDns1123Label),
    ...(domain.includes('.')
      ? []
      : [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]),
    ...labelled(rest[0] ?? '', isDns1123Subdomain),
  ];
}

/** Whether base64 holds a PEM block of this type; what is inside is read by its signer. */
const isSigningRequest = (base64: string): boolean =>
  /^-----BEGIN CERTIFICATE REQUEST-----\r?$/m.test(decodeBase64(base64));

function signingRequest(request: Obj): FieldError[] {
  const spec = obj(request, 'spec');
  const usages = strs(spec, 'usages');
  const seconds = num(spec, 'expirationSeconds');
  return [
    ...(isSigningRequest(str(spec, 'request'))
      ? []
      : [invalid('spec.request', spec['request'] ?? null, 'PEM block type must be CERTIFICATE REQUEST')]),
    ...(usages.length === 0 ? [required('spec.usages')] : []),
    ...usages.flatMap((usage, i) => supportedOnly(index('spec.usages', i), usage, USAGES)),
    ...duplicates(usages, (i) => index('spec.usages', i), duplicate),
    ...signerName(str(spec, 'signerName')),
    ...(seconds !== undefined && seconds < SIGNER_SECONDS_MIN
      ? [
          invalid(
            'spec.expirationSeconds',
            seconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
    ...conditions(request),
  ];
}

function conditions(request: Obj): FieldError[] {
  const list = objs(obj(request, 'status'), 'conditions');
  const types = list.map((condition) => str(condition, 'type'));
  return list.flatMap((condition, i) => {
    const at = index('status.conditions', i);
    const [type, status] = [str(condition, 'type'), str(condition, 'status')];
    const errors = type === '' ? [required(child(at, 'type'))] : [];
    errors.push(...oneOf(child(at, 'status'), status, ['False', 'True', 'Unknown']));
    if (type === 'Approved' && types.includes('Denied'))
      errors.push(invalid(child(at, 'type'), type, 'Approved and Denied conditions are mutually exclusive'));
    if ((type === 'Approved' || type === 'Denied' || type === 'Failed') && status !== 'True' && status !== '')
      errors.push(invalid(child(at, 'status'), status, 'status must be "True"'));
    return errors;
  });
}

function requestStatus(request: Obj, before: Obj): FieldError[] {
  const [status, old] = [obj(request, 'status'), obj(before, 'status')];
  return [
    ...objectMetaUpdate(request, before),
    ...signingRequest(request),
    ...(has(old, 'certificate')
      ? immutable('status.certificate', status['certificate'], old['certificate'])
      : []),
  ];
}

export const CertificateSigningRequestRules: KindRules = {
  ...CSR_META,
  create: (request) => [...objectMeta(request, CSR_META), ...signingRequest(request)],
  update: (request, before) => [...objectMetaUpdate(request, before), ...signingRequest(request)],
  subresources: { status: requestStatus, approval: requestStatus },
};
