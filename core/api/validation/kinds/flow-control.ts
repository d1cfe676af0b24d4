import { duplicates, format, oneOf, wildcardAlone } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isDns1123Label, nameIsDnsSubdomain } from '../../field/formats.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, isTrue, maybeObj, num, obj, objs, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from './flow-control-mandatory.ts';

const META = { namespaced: false, name: nameIsDnsSubdomain };
const EXEMPT = 'exempt';
const PRECEDENCE_MAX = 10_000;
const QUEUES_MAX = 10_000_000;
/** Of the 64 bits of a hash, those that shuffle sharding may use. */
const HASH_BITS_MAX = 60;
const DISTINGUISHERS = ['ByNamespace', 'ByUser'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

const nameOf = (object: Obj): string => str(obj(object, 'metadata'), 'name');

/** A subject has the part that its kind says, and no other. */
const SUBJECT_PARTS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceAccount',
  User: 'user',
  Group: 'group',
};

function subject(path: FieldPath, of: Obj): FieldError[] {
  const kind = str(of, 'kind');
  const part = SUBJECT_PARTS[kind];
  if (part === undefined) return [notSupported(child(path, 'kind'), kind, SUBJECT_KINDS)];
  const own = maybeObj(of, part);
  return [
    ...(own === undefined
      ? [required(child(path, part), `${part} is required when subject kind is '${kind}'`)]
      : subjectPart(child(path, part), own, kind)),
    ...Object.entries(SUBJECT_PARTS).flatMap(([otherKind, other]) =>
      other !== part && has(of, other)
        ? [forbidden(child(path, other), `${other} is forbidden when subject kind is not '${otherKind}'`)]
        : [],
    ),
  ];
}

function subjectPart(path: FieldPath, of: Obj, kind: string): FieldError[] {
  const [name, namespace] = [str(of, 'name'), str(of, 'namespace')];
  const errors = name === '' ? [required(child(path, 'name'))] : [];
  if (kind !== 'ServiceAccount') return errors;
  if (name !== '' && name !== '*')
    errors.push(
      ...nameIsDnsSubdomain(name, false).map((message) => invalid(child(path, 'name'), name, message)),
    );
  return [
    ...errors,
    ...(namespace === ''
      ? [required(child(path, 'namespace'), 'must specify namespace for service account')]
      : format(child(path, 'namespace'), namespace, isDns1123Label)),
  ];
}

function verbs(path: FieldPath, values: readonly string[]): FieldError[] {
  if (values.length === 0) return [required(path, 'verbs must contain at least one value')];
  if (values.includes('*')) return wildcardAlone(path, values, 'verbs');
  return values.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(path, values, VERBS)];
}

function nonResourceUrl(path: FieldPath, url: string): FieldError[] {
  const wrong = (why: string): FieldError[] => [invalid(path, url, why)];
  if (url === '') return wrong('must not be empty');
  if (url === '/') return [];
  if (!url.startsWith('/')) return wrong('must start with slash');
  if (url.includes(' ')) return wrong('must not contain white-space');
  if (url.includes('//')) return wrong('must not contain double slash');
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*'))
    ? wrong('wildcard can only do suffix matching')
    : [];
}

function nonResourceRule(path: FieldPath, rule: Obj): FieldError[] {
  const urls = strs(rule, 'nonResourceURLs');
  const at = child(path, 'nonResourceURLs');
  return [
    ...verbs(child(path, 'verbs'), strs(rule, 'verbs')),
    ...(urls.length === 0
      ? [required(at, 'nonResourceURLs must contain at least one value')]
      : urls.includes('*')
        ? wildcardAlone(at, urls, 'non-resource URLs')
        : urls.flatMap((url, i) => nonResourceUrl(index(at, i), url))),
  ];
}

const NAMESPACE_INTRO = "each member of this list must be '*' or a DNS-1123 label; ";

function ruleNamespaces(path: FieldPath, rule: Obj): FieldError[] {
  const namespaces = strs(rule, 'namespaces');
  if (namespaces.length === 0)
    return isTrue(rule, 'clusterScope')
      ? []
      : [required(path, 'resource rules that are not cluster scoped must supply at least one namespace')];
  if (namespaces.includes('*')) return wildcardAlone(path, namespaces, 'namespaces');
  return namespaces.flatMap((namespace, i) =>
    isDns1123Label(namespace).map((message) => invalid(index(path, i), namespace, NAMESPACE_INTRO + message)),
  );
}

function resourceRule(path: FieldPath, rule: Obj): FieldError[] {
  const list = (name: string, one: string, many: string): FieldError[] => {
    const values = strs(rule, name);
    return values.length === 0
      ? [required(child(path, name), `resource rules must supply at least one ${one}`)]
      : wildcardAlone(child(path, name), values, many);
  };
  return [
    ...verbs(child(path, 'verbs'), strs(rule, 'verbs')),
    ...list('apiGroups', 'api group', 'api groups'),
    ...list('resources', 'resource', 'resources'),
    ...ruleNamespaces(child(path, 'namespaces'), rule),
  ];
}

function policyRules(path: FieldPath, rule: Obj): FieldError[] {
  const subjects = objs(rule, 'subjects');
  const [resources, others] = [objs(rule, 'resourceRules'), objs(rule, 'nonResourceRules')];
  return [
    ...(subjects.length === 0
      ? [required(child(path, 'subjects'), 'subjects must contain at least one value')]
      : subjects.flatMap((of, i) => subject(index(child(path, 'subjects'), i), of))),
    ...(resources.length === 0 && others.length === 0
      ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...resources.flatMap((of, i) => resourceRule(index(child(path, 'resourceRules'), i), of)),
    ...others.flatMap((of, i) => nonResourceRule(index(child(path, 'nonResourceRules'), i), of)),
  ];
}

function conditions(object: Obj): FieldError[] {
  const types = objs(obj(object, 'status'), 'conditions').map((condition) => str(condition, 'type'));
  const at = (i: number): FieldPath => child(index('status.conditions', i), 'type');
  return [
    ...duplicates(types, at, duplicate),
    ...types.flatMap((type, i) => (type === '' ? [required(at(i))] : [])),
  ];
}

function flowSchema(object: Obj): FieldError[] {
  const spec = obj(object, 'spec');
  const precedence = int(spec, 'matchingPrecedence');
  const wrongPrecedence = (why: string): FieldError => invalid('spec.matchingPrecedence', precedence, why);
  const method = maybeObj(spec, 'distinguisherMethod');
  const level = str(obj(spec, 'priorityLevelConfiguration'), 'name');
  const levelPath = 'spec.priorityLevelConfiguration.name';
  const name = nameOf(object);
  const fixed = MANDATORY_FLOW_SCHEMAS[name];
  return [
    ...objectMeta(object, META),
    ...(precedence <= 0 ? [wrongPrecedence('must be a positive value')] : []),
    ...(precedence > PRECEDENCE_MAX ? [wrongPrecedence(`must not be greater than ${PRECEDENCE_MAX}`)] : []),
    ...(precedence === 1 && name !== EXEMPT
      ? [wrongPrecedence("only the schema named 'exempt' may have matchingPrecedence 1")]
      : []),
    ...(method !== undefined && !DISTINGUISHERS.includes(str(method, 'type'))
      ? [notSupported('spec.distinguisherMethod.type', { Type: str(method, 'type') }, DISTINGUISHERS)]
      : []),
    ...(level === ''
      ? [required(levelPath, 'must reference a priority level')]
      : nameIsDnsSubdomain(level, false).map((message) => invalid(levelPath, level, message))),
    ...objs(spec, 'rules').flatMap((rule, i) => policyRules(index('spec.rules', i), rule)),
    ...(fixed !== undefined && !sameValue(spec, fixed)
      ? [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)]
      : []),
    ...conditions(object),
  ];
}

const rulesFor = (check: (object: Obj) => FieldError[]): KindRules => ({
  ...META,
  create: check,
  update: (object, before) => [...objectMetaUpdate(object, before), ...check(object)],
  subresources: { status: (object, before) => [...objectMetaUpdate(object, before), ...conditions(object)] },
});

export const FlowSchemaRules = rulesFor(flowSchema);

function queuing(path: FieldPath, of: Obj): FieldError[] {
  const [queues, hand, length] = [int(of, 'queues'), int(of, 'handSize'), int(of, 'queueLengthLimit')];
  const positive = (name: string, value: number): FieldError[] =>
    value > 0 ? [] : [invalid(child(path, name), value, 'must be positive')];
  const wrongHand = (why: string): FieldError[] => [invalid(child(path, 'handSize'), hand, why)];
  const entropyBits = Math.ceil(Math.log2(queues) * hand);
  return [
    ...positive('queueLengthLimit', length),
    ...positive('queues', queues),
    ...(queues > QUEUES_MAX
      ? [invalid(child(path, 'queues'), queues, `must not be greater than ${QUEUES_MAX}`)]
      : []),
    ...(hand <= 0
      ? positive('handSize', hand)
      : hand > queues
        ? wrongHand(`should not be greater than queues (${queues})`)
        : entropyBits > HASH_BITS_MAX
          ? wrongHand(
              `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${HASH_BITS_MAX}`,
            )
          : []),
  ];
}

const NOT_NEGATIVE = 'must be a non-negative integer';

function shares(path: FieldPath, of: Obj): FieldError[] {
  const [nominal, lendable] = [num(of, 'nominalConcurrencyShares'), num(of, 'lendablePercent')];
  return [
    ...(nominal !== undefined && nominal < 0
      ? [invalid(child(path, 'nominalConcurrencyShares'), nominal, NOT_NEGATIVE)]
      : []),
    ...(lendable !== undefined && (lendable < 0 || lendable > 100)
      ? [invalid(child(path, 'lendablePercent'), lendable, 'must be between 0 and 100, inclusive')]
      : []),
  ];
}

function limitResponse(path: FieldPath, of: Obj): FieldError[] {
  const [type, queue] = [str(of, 'type'), maybeObj(of, 'queuing')];
  const at = child(path, 'queuing');
  switch (type) {
    case 'Reject':
      return queue === undefined
        ? []
        : [forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      return queue === undefined
        ? [required(at, 'must not be empty if limited.limitResponse.type is Limited')]
        : queuing(at, queue);
    default:
      return [notSupported(child(path, 'type'), type, ['Queue', 'Reject'])];
  }
}

function limited(path: FieldPath, of: Obj): FieldError[] {
  const borrowing = num(of, 'borrowingLimitPercent');
  return [
    ...shares(path, of),
    ...limitResponse(child(path, 'limitResponse'), obj(of, 'limitResponse')),
    ...(borrowing !== undefined && borrowing < 0
      ? [invalid(child(path, 'borrowingLimitPercent'), borrowing, `if specified, ${NOT_NEGATIVE}`)]
      : []),
  ];
}

function levelSpec(spec: Obj, name: string): FieldError[] {
  const type = str(spec, 'type');
  const [exempt, limits] = [maybeObj(spec, 'exempt'), maybeObj(spec, 'limited')];
  const errors =
    (name === EXEMPT) === (type === 'Exempt')
      ? []
      : [invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'")];
  switch (type) {
    case 'Exempt':
      return [
        ...errors,
        ...(limits === undefined
          ? []
          : [forbidden('spec.limited', 'must be nil if the type is not Limited')]),
        ...(exempt === undefined ? [] : shares('spec.exempt', exempt)),
      ];
    case 'Limited':
      return [
        ...errors,
        ...(exempt === undefined ? [] : [forbidden('spec.exempt', 'must be nil if the type is Limited')]),
        ...(limits === undefined
          ? [required('spec.limited', 'must not be empty when type is Limited')]
          : limited('spec.limited', limits)),
      ];
    default:
      return [...errors, ...oneOf('spec.type', type, ['Exempt', 'Limited'])];
  }
}

/** Two levels are what the server falls back to; of the exempt one only the shares may be tuned. */
function mandatoryLevel(spec: Obj, name: string): FieldError[] {
  const fixed = MANDATORY_PRIORITY_LEVELS[name];
  if (fixed === undefined) return [];
  if (name === EXEMPT)
    return sameValue({ ...spec, exempt: undefined }, { ...fixed, exempt: undefined })
      ? []
      : [
          invalid(
            'spec',
            spec,
            `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`,
          ),
        ];
  return sameValue(spec, fixed)
    ? []
    : [invalid('spec', spec, `spec of '${name}' must equal the fixed value`)];
}

export const PriorityLevelConfigurationRules = rulesFor((object) => {
  const spec = obj(object, 'spec');
  const name = nameOf(object);
  return [
    ...objectMeta(object, META),
    ...levelSpec(spec, name),
    ...mandatoryLevel(spec, name),
    ...conditions(object),
  ];
});
