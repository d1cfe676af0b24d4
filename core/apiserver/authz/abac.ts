import { ReasonError } from '../../base/errors.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import { ALL_AUTHENTICATED } from '../server/user.ts';
import { allow, noOpinion, type Attributes, type Authorizer } from './authorizer.ts';

/** One line of upstream's --authorization-policy-file. */
interface Policy {
  readonly user: string;
  readonly group: string;
  readonly isReadOnly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

type Fields = Readonly<Record<string, unknown>>;

const API_VERSION = 'abac.authorization.kubernetes.io/v1beta1';
const TEXT_LENGTH_MAX = 16 * 1024 * 1024;
const ANY = '*';
const READ_VERBS = new Set(['get', 'list', 'watch']);

const textIn = (fields: Fields, name: string): string => {
  const value = fields[name] ?? '';
  if (typeof value !== 'string') throw new Error(`${name} must be a string`);
  return value;
};

const policyIn = (fields: Fields): Policy => ({
  user: textIn(fields, 'user'),
  group: textIn(fields, 'group'),
  isReadOnly: fields['readonly'] === true,
  apiGroup: textIn(fields, 'apiGroup'),
  resource: textIn(fields, 'resource'),
  namespace: textIn(fields, 'namespace'),
  nonResourcePath: textIn(fields, 'nonResourcePath'),
});

/** The format without a version: absent fields mean any, and no or any subject everyone who is known. */
const oldPolicyIn = (fields: Fields): Policy => {
  const { user, group, isReadOnly, resource, namespace } = policyIn(fields);
  const isForAll = (user === '' && group === '') || user === ANY || group === ANY;
  return {
    user: isForAll ? '' : user,
    group: isForAll ? ALL_AUTHENTICATED : group,
    isReadOnly,
    apiGroup: ANY,
    resource: resource === '' ? ANY : resource,
    namespace: namespace === '' ? ANY : namespace,
    nonResourcePath: resource === '' && namespace === '' ? ANY : '',
  };
};

const readPolicy = (line: string): Policy => {
  const value: unknown = JSON.parse(line);
  if (!isJsonObject(value)) throw new Error('must be an object');
  if (value['apiVersion'] === undefined && value['kind'] === undefined) return oldPolicyIn(value);
  if (value['apiVersion'] !== API_VERSION || value['kind'] !== 'Policy')
    throw new Error(`must be a Policy of ${API_VERSION}`);
  const { spec = {} } = value;
  if (!isJsonObject(spec)) throw new Error('spec must be an object');
  return policyIn(spec);
};

/** Throws `BadConfiguration` that names the line, never its content. */
const readPolicies = (text: string): readonly Policy[] => {
  if (text.length > TEXT_LENGTH_MAX)
    throw new ReasonError('BadConfiguration', `is longer than ${TEXT_LENGTH_MAX} characters`);
  return text.split('\n').flatMap((line, at) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    try {
      return [readPolicy(trimmed)];
    } catch (cause) {
      const problem = cause instanceof SyntaxError ? 'is not valid JSON' : (cause as Error).message;
      throw new ReasonError('BadConfiguration', `line ${at + 1}: ${problem}`, { cause });
    }
  });
};

const matchesSubject = ({ user, group }: Policy, { user: caller }: Attributes): boolean => {
  if (user === '' && group === '') return false;
  const isUser = user === '' || user === ANY || user === caller.name;
  const isGroup = group === '' || group === ANY || caller.groups.includes(group);
  return isUser && isGroup;
};

const matches = (wanted: string, actual: string): boolean => wanted === ANY || wanted === actual;

const matchesTarget = (policy: Policy, attributes: Attributes): boolean => {
  if (attributes.isResourceRequest)
    return (
      matches(policy.namespace, attributes.namespace) &&
      matches(policy.resource, attributes.resource) &&
      matches(policy.apiGroup, attributes.apiGroup)
    );
  const { nonResourcePath } = policy;
  return (
    matches(nonResourcePath, attributes.path) ||
    (nonResourcePath.endsWith(ANY) && attributes.path.startsWith(nonResourcePath.replace(/\*+$/, '')))
  );
};

/** Attribute-based access control: a file with one policy per line, any of which may allow a request. */
export const abacAuthorizer = (text: string): Authorizer => {
  const policies = readPolicies(text);
  return {
    authorize: (attributes) =>
      policies.some(
        (policy) =>
          matchesSubject(policy, attributes) &&
          (!policy.isReadOnly || READ_VERBS.has(attributes.verb)) &&
          matchesTarget(policy, attributes),
      )
        ? allow()
        : noOpinion('No policy matched.'),
  };
};
