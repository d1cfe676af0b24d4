import { parseDocument } from 'yaml';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { UserInfo } from '../server/user.ts';
import type { RequestInfo } from '../server/request-info.ts';

export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];
export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStageName = (typeof AUDIT_STAGES)[number];

export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

export interface PolicyRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStageName[];
  /** Absent: as the policy says. */
  readonly omitManagedFields: boolean | undefined;
}

export interface AuditPolicy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly AuditStageName[];
  readonly omitManagedFields: boolean;
}

/** What one request is audited by. */
export interface AuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStageName>;
  readonly omitManagedFields: boolean;
}

const API_VERSION = 'audit.k8s.io/v1';
const TEXT_LENGTH_MAX = 1024 * 1024;
const RULE_LISTS = ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs', 'omitStages'] as const;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

type Fields = Readonly<Record<string, unknown>>;

const bad = (text: string): never => {
  throw new ReasonError('BadConfiguration', text);
};

const fieldsOf = (value: unknown, path: string, known: readonly string[]): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad(`${path || 'policy'} must be an object`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) bad(`unknown field "${path === '' ? '' : `${path}.`}${unknown}"`);
  return value as Fields;
};

const listOf = (value: unknown, path: string): readonly unknown[] => {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly unknown[]) : bad(`${path} must be a list`);
};

const textsOf = (value: unknown, path: string): readonly string[] =>
  listOf(value, path).map((item, at) =>
    typeof item === 'string' ? item : bad(`${path}[${at}] must be a string`),
  );

const booleanOf = (value: unknown, path: string): boolean | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' ? value : bad(`${path} must be true or false`);
};

const stagesOf = (value: unknown, path: string): readonly AuditStageName[] =>
  textsOf(value, path).map(
    (text, at) =>
      AUDIT_STAGES.find((stage) => stage === text) ??
      bad(
        `${path}[${at}]: Invalid value: ${JSON.stringify(text)}: allowed stages are ${AUDIT_STAGES.join(',')}`,
      ),
  );

const resourcesOf = (value: unknown, path: string): readonly GroupResources[] =>
  listOf(value, path).map((one, at) => {
    const where = `${path}[${at}]`;
    const fields = fieldsOf(one, where, ['group', 'resources', 'resourceNames']);
    const group = fields['group'] === undefined || fields['group'] === null ? '' : fields['group'];
    if (typeof group !== 'string') return bad(`${where}.group must be a string`);
    if (group !== '' && group !== '*' && !SUBDOMAIN.test(group))
      return bad(`${path}.group: Invalid value: ${JSON.stringify(group)}: must be a DNS subdomain`);
    const resources = textsOf(fields['resources'], `${where}.resources`);
    const resourceNames = textsOf(fields['resourceNames'], `${where}.resourceNames`);
    if (resourceNames.length > 0 && resources.length === 0)
      bad(`${path}.resourceNames: Invalid value: using resourceNames requires at least one resource`);
    return { group, resources, resourceNames };
  });

const checkUrls = (urls: readonly string[], path: string): void =>
  urls.forEach((url, at) => {
    if (url === '*') return;
    const where = `${path}[${at}]: Invalid value: ${JSON.stringify(url)}`;
    if (!url.startsWith('/')) bad(`${where}: non-resource URL rules must begin with a '/' character`);
    if (url.slice(0, -1).includes('*'))
      bad(`${where}: non-resource URL wildcards '*' must be the final character of the rule`);
  });

const ruleOf = (value: unknown, path: string): PolicyRule => {
  const fields = fieldsOf(value, path, ['level', 'resources', 'omitManagedFields', ...RULE_LISTS]);
  const level = AUDIT_LEVELS.find((one) => one === fields['level']);
  if (level === undefined)
    return bad(
      fields['level'] === undefined
        ? `${path}.level: Required value`
        : `${path}.level: Unsupported value: ${JSON.stringify(fields['level'])}: supported values: ${AUDIT_LEVELS.map((one) => `"${one}"`).join(', ')}`,
    );
  const texts = (name: (typeof RULE_LISTS)[number]): readonly string[] =>
    textsOf(fields[name], `${path}.${name}`);
  const resources = resourcesOf(fields['resources'], `${path}.resources`);
  const [namespaces, nonResourceURLs] = [texts('namespaces'), texts('nonResourceURLs')];
  checkUrls(nonResourceURLs, `${path}.nonResourceURLs`);
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0))
    bad(
      `${path}.nonResourceURLs: Invalid value: rules cannot apply to both regular resources and non-resource URLs`,
    );
  return {
    level,
    users: texts('users'),
    userGroups: texts('userGroups'),
    verbs: texts('verbs'),
    resources,
    namespaces,
    nonResourceURLs,
    omitStages: stagesOf(fields['omitStages'], `${path}.omitStages`),
    omitManagedFields: booleanOf(fields['omitManagedFields'], `${path}.omitManagedFields`),
  };
};

/** Throws `BadConfiguration` that names the field. */
export const parseAuditPolicy = (text: string): AuditPolicy => {
  if (text.length > TEXT_LENGTH_MAX) return bad(`is longer than ${TEXT_LENGTH_MAX} characters`);
  const document = parseDocument(text);
  if (document.errors.length > 0) return bad(`is not valid YAML: ${messageOf(document.errors[0])}`);
  const fields = fieldsOf(document.toJS({ maxAliasCount: 0 }), '', [
    'apiVersion',
    'kind',
    'metadata',
    'rules',
    'omitStages',
    'omitManagedFields',
  ]);
  if (fields['apiVersion'] !== API_VERSION || fields['kind'] !== 'Policy')
    return bad(`is not a Policy of ${API_VERSION}`);
  const rules = listOf(fields['rules'], 'rules').map((rule, at) => ruleOf(rule, `rules[${at}]`));
  if (rules.length === 0) return bad('loaded illegal policy with 0 rules');
  return {
    rules,
    omitStages: stagesOf(fields['omitStages'], 'omitStages'),
    omitManagedFields: booleanOf(fields['omitManagedFields'], 'omitManagedFields') ?? false,
  };
};

const matchesResource = (rule: PolicyRule, info: RequestInfo): boolean => {
  if (!info.isResourceRequest) return false;
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(info.namespace)) return false;
  if (rule.resources.length === 0) return true;
  const { apiGroup, resource, subresource, name } = info;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  return rule.resources.some(({ group, resources, resourceNames }) => {
    if (group !== apiGroup && group !== '*') return false;
    if (resources.length === 0) return true;
    if (resourceNames.length > 0 && !resourceNames.includes(name)) return false;
    return resources.some(
      (wanted) =>
        wanted === '*' ||
        wanted === combined ||
        (subresource !== '' && wanted === `*/${subresource}`) ||
        wanted === `${resource}/*`,
    );
  });
};

const matchesUrl = ({ nonResourceURLs }: PolicyRule, { isResourceRequest, path }: RequestInfo): boolean =>
  !isResourceRequest &&
  nonResourceURLs.some(
    (url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
  );

const concernsUser = ({ users, userGroups }: PolicyRule, user: UserInfo | undefined): boolean => {
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  return userGroups.length === 0 || (user?.groups.some((group) => userGroups.includes(group)) ?? false);
};

/** Of a rule that concerns the user. */
const matches = (rule: PolicyRule, info: RequestInfo): boolean => {
  const { verbs } = rule;
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, info);
  if (rule.nonResourceURLs.length > 0) return matchesUrl(rule, info);
  return true;
};

interface Candidate {
  readonly rule: PolicyRule;
  readonly config: AuditConfig;
}

/** The first rule that matches decides; without one nothing is audited. */
export const createPolicyEvaluator = (
  policy: AuditPolicy,
): ((info: RequestInfo, user: UserInfo | undefined) => AuditConfig) => {
  const candidates = policy.rules.map((rule): Candidate => {
    const { level, omitStages, omitManagedFields = policy.omitManagedFields } = rule;
    return {
      rule,
      config: { level, omitStages: new Set([...policy.omitStages, ...omitStages]), omitManagedFields },
    };
  });
  const none: AuditConfig = {
    level: 'None',
    omitStages: new Set(policy.omitStages),
    omitManagedFields: policy.omitManagedFields,
  };
  const concerning = (user: UserInfo | undefined): readonly Candidate[] =>
    candidates.filter(({ rule }) => concernsUser(rule, user));
  const unknown = concerning(undefined);
  /** A connection keeps its user for all of its requests. */
  const byUser = new WeakMap<UserInfo, readonly Candidate[]>();
  const candidatesFor = (user: UserInfo | undefined): readonly Candidate[] => {
    if (!user) return unknown;
    let known = byUser.get(user);
    if (known === undefined) byUser.set(user, (known = concerning(user)));
    return known;
  };
  return (info, user) => candidatesFor(user).find(({ rule }) => matches(rule, info))?.config ?? none;
};
