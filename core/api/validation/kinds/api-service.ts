import { format, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { invalid, required } from '../../field/field-error.ts';
import { child, index } from '../../field/field-path.ts';
import { isDns1035Label, isDns1123Subdomain, isPathSegmentName, isPortNumber } from '../../field/formats.ts';
import { goQuote } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { int, isTrue, maybeObj, obj, objs, str } from '../read.ts';
import type { KindRules } from '../rules.ts';

const GROUP_PRIORITY_MAX = 20_000;
const VERSION_PRIORITY_MAX = 1_000;
const STATUSES = ['True', 'False', 'Unknown'];

/** The bytes that base64 stands for. */
const bundleBytes = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);

function priorities(spec: Obj): FieldError[] {
  const check = (name: string, max: number): FieldError[] => {
    const value = int(spec, name);
    return value > 0 && value <= max
      ? []
      : [invalid(child('spec', name), value, `must be positive and less than ${max}`)];
  };
  return [
    ...check('groupPriorityMinimum', GROUP_PRIORITY_MAX),
    ...check('versionPriority', VERSION_PRIORITY_MAX),
  ];
}

/** Where the server is; without a service it is this one. */
function backend(spec: Obj): FieldError[] {
  const service = maybeObj(spec, 'service');
  const bundle = str(spec, 'caBundle');
  const isInsecure = isTrue(spec, 'insecureSkipTLSVerify');
  const insecure = (why: string): FieldError[] =>
    isInsecure ? [invalid('spec.insecureSkipTLSVerify', true, why)] : [];
  if (service === undefined)
    return [
      ...(bundle === ''
        ? []
        : [
            invalid(
              'spec.caBundle',
              `${bundleBytes(bundle)} bytes`,
              'local APIServices may not have a caBundle',
            ),
          ]),
      ...insecure('local APIServices may not have insecureSkipTLSVerify'),
    ];
  const port = int(service, 'port');
  const reasons = isPortNumber(port);
  return [
    ...['namespace', 'name'].flatMap((name) =>
      str(service, name) === '' ? [required(child('spec', 'service', name))] : [],
    ),
    ...(reasons.length > 0
      ? [invalid('spec.service.port', port, `port is not valid: ${reasons.join(', ')}`)]
      : []),
    ...(bundle === '' ? [] : insecure('may not be true if caBundle is present')),
  ];
}

function apiService(object: Obj): FieldError[] {
  const spec = obj(object, 'spec');
  const [group, version] = [str(spec, 'group'), str(spec, 'version')];
  const wanted = `${version}.${group}`;
  const meta = {
    namespaced: false,
    allowsBareFinalizers: true,
    name: (name: string): readonly string[] => {
      const wrong = isPathSegmentName(name, false);
      if (wrong.length > 0) return wrong;
      return name === wanted ? [] : [`must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`];
    },
  };
  return [
    ...objectMeta(object, meta),
    ...(group === '' && version !== 'v1'
      ? [required('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : format('spec.group', group, isDns1123Subdomain)),
    ...format('spec.version', version, isDns1035Label),
    ...priorities(spec),
    ...backend(spec),
  ];
}

export const APIServiceRules: KindRules = {
  namespaced: false,
  name: isPathSegmentName,
  create: apiService,
  update: (object, before) => [...objectMetaUpdate(object, before), ...apiService(object)],
  subresources: {
    status: (object, before) => [
      ...objectMetaUpdate(object, before),
      ...objs(obj(object, 'status'), 'conditions').flatMap((condition, i) =>
        supportedOnly(child(index('status.conditions', i), 'status'), str(condition, 'status'), STATUSES),
      ),
    ],
  },
};
