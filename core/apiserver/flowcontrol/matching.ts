import type { UserInfo } from '../server/user.ts';
import type { RequestInfo } from '../server/request-info.ts';
import type { FlowSchema, NonResourceRule, PolicyRules, ResourceRule, Subject } from './configuration.ts';

const ALL = '*';
const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** A wildcard stands alone in its list. */
const contains = (list: readonly string[], value: string): boolean =>
  (list.length === 1 && list[0] === ALL) || list.includes(value);

const matchesSubject = (subject: Subject, user: UserInfo): boolean => {
  switch (subject.kind) {
    case 'User':
      return subject.user?.name === ALL || subject.user?.name === user.name;
    case 'Group':
      return (
        subject.group?.name === ALL ||
        (subject.group !== undefined && user.groups.includes(subject.group.name))
      );
    case 'ServiceAccount': {
      if (!subject.serviceAccount) return false;
      const { namespace, name } = subject.serviceAccount;
      const start = `${ACCOUNT_PREFIX}${namespace}:`;
      return name === ALL ? user.name.startsWith(start) : user.name === `${start}${name}`;
    }
    default:
      return false;
  }
};

const matchesResource = (rule: ResourceRule, info: RequestInfo): boolean => {
  const { verb, resource, subresource, apiGroup, namespace } = info;
  if (!contains(rule.verbs, verb) || !contains(rule.apiGroups, apiGroup)) return false;
  if (!contains(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)) return false;
  return namespace === '' ? rule.clusterScope === true : contains(rule.namespaces ?? [], namespace);
};

const matchesPath = (rule: NonResourceRule, { verb, path }: RequestInfo): boolean =>
  contains(rule.verbs, verb) &&
  rule.nonResourceURLs.some((url) => {
    if (url === ALL || url === path) return true;
    const start = url.endsWith(ALL) ? url.slice(0, -1) : url;
    return path.startsWith(start.endsWith('/') ? start : `${start}/`);
  });

const matchesRules = (rules: PolicyRules, info: RequestInfo, user: UserInfo): boolean =>
  rules.subjects.some((subject) => matchesSubject(subject, user)) &&
  (info.isResourceRequest
    ? (rules.resourceRules ?? []).some((rule) => matchesResource(rule, info))
    : (rules.nonResourceRules ?? []).some((rule) => matchesPath(rule, info)));

export const matchesSchema = ({ rules }: FlowSchema, info: RequestInfo, user: UserInfo): boolean =>
  rules.some((one) => matchesRules(one, info, user));

/** Whether any request of the user can match. */
export const concernsUser = ({ rules }: FlowSchema, user: UserInfo): boolean =>
  rules.some(({ subjects }) => subjects.some((subject) => matchesSubject(subject, user)));

/** Lower precedence first; of two alike the one whose name comes first. */
export const inOrder = (schemas: Iterable<FlowSchema>): readonly FlowSchema[] =>
  [...schemas].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1));
