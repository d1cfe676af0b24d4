import { expect, test } from 'vitest';
import { userInfo } from '../server/user.ts';
import { parseRequestInfo } from '../server/request-info.ts';
import { createPolicyEvaluator, parseAuditPolicy } from './policy.ts';

const policyOf = (rules: string, more = ''): string =>
  `apiVersion: audit.k8s.io/v1\nkind: Policy\n${more}\nrules:\n${rules}`;

const levelOf = (rules: string, line: string, user = userInfo('alice', ['dev'])): string => {
  const [method = '', url = ''] = line.split(' ');
  const [path = '', query = ''] = url.split('?');
  const info = parseRequestInfo({ method, path, query: new URLSearchParams(query) });
  return createPolicyEvaluator(parseAuditPolicy(policyOf(rules)))(info, user).level;
};

test.each([
  ['a user', '- {level: Metadata, users: [alice]}', 'GET /api/v1/pods', 'Metadata'],
  ['another user', '- {level: Metadata, users: [bob]}', 'GET /api/v1/pods', 'None'],
  ['a group', '- {level: Request, userGroups: [dev, ops]}', 'GET /x', 'Request'],
  ['a verb', '- {level: Request, verbs: [list]}', 'GET /api/v1/pods', 'Request'],
  [
    'a resource',
    "- {level: Request, resources: [{group: '', resources: [pods]}]}",
    'GET /api/v1/pods',
    'Request',
  ],
  [
    'a resource, but not its subresource',
    "- {level: Request, resources: [{group: '', resources: [pods]}]}",
    'GET /api/v1/namespaces/a/pods/b/log',
    'None',
  ],
  [
    'a subresource',
    "- {level: Request, resources: [{group: '', resources: [pods/log]}]}",
    'GET /api/v1/namespaces/a/pods/b/log',
    'Request',
  ],
  [
    'all subresources',
    "- {level: Request, resources: [{group: '', resources: ['pods/*']}]}",
    'GET /api/v1/namespaces/a/pods/b/log',
    'Request',
  ],
  [
    'a subresource of all resources',
    "- {level: Request, resources: [{group: '', resources: ['*/log']}]}",
    'GET /api/v1/namespaces/a/pods/b/log',
    'Request',
  ],
  [
    'a whole group',
    '- {level: Request, resources: [{group: apps}]}',
    'GET /apis/apps/v1/deployments',
    'Request',
  ],
  ['another group', '- {level: Request, resources: [{group: apps}]}', 'GET /api/v1/pods', 'None'],
  [
    'a name',
    "- {level: Request, resources: [{group: '', resources: [pods], resourceNames: [b]}]}",
    'GET /api/v1/namespaces/a/pods/b',
    'Request',
  ],
  [
    'another name',
    "- {level: Request, resources: [{group: '', resources: [pods], resourceNames: [c]}]}",
    'GET /api/v1/namespaces/a/pods/b',
    'None',
  ],
  ['a namespace', '- {level: Request, namespaces: [a]}', 'GET /api/v1/namespaces/a/pods', 'Request'],
  ['no namespace', "- {level: Request, namespaces: ['']}", 'GET /api/v1/nodes', 'Request'],
  ['a URL', '- {level: Metadata, nonResourceURLs: [/version]}', 'GET /version', 'Metadata'],
  [
    'URLs by their start',
    "- {level: Metadata, nonResourceURLs: ['/healthz*']}",
    'GET /healthz/etcd',
    'Metadata',
  ],
  ['no resources by a URL', "- {level: Metadata, nonResourceURLs: ['*']}", 'GET /api/v1/pods', 'None'],
  ['the first rule', '- {level: None, verbs: [list]}\n- {level: Metadata}', 'GET /api/v1/pods', 'None'],
])('a rule matches %s', (_name, rules, line, level) => {
  expect(levelOf(rules, line)).toBe(level);
});

test('rules about users do not match a request whose caller is not known', () => {
  const info = parseRequestInfo({ method: 'GET', path: '/api/v1/pods', query: new URLSearchParams() });
  const evaluate = createPolicyEvaluator(
    parseAuditPolicy(policyOf('- {level: None, userGroups: [system:authenticated]}\n- {level: Metadata}')),
  );
  expect(evaluate(info, undefined).level).toBe('Metadata');
});

test('stages of policy and rule add up, and a rule has the last word on managed fields', () => {
  const text = policyOf(
    '- {level: Metadata, omitStages: [Panic], omitManagedFields: false}',
    'omitStages: [RequestReceived]\nomitManagedFields: true',
  );
  const info = parseRequestInfo({ method: 'GET', path: '/x', query: new URLSearchParams() });
  expect(createPolicyEvaluator(parseAuditPolicy(text))(info, undefined)).toEqual({
    level: 'Metadata',
    omitStages: new Set(['RequestReceived', 'Panic']),
    omitManagedFields: false,
  });
});

test.each([
  ['no rules', policyOf('  []'), 'loaded illegal policy with 0 rules'],
  ['another kind', 'apiVersion: v1\nkind: Pod\nrules: []', 'is not a Policy of audit.k8s.io/v1'],
  ['a rule without a level', policyOf('- {users: [a]}'), 'rules[0].level: Required value'],
  ['an unknown level', policyOf('- {level: All}'), 'rules[0].level: Unsupported value: "All"'],
  ['an unknown stage', policyOf('- {level: None, omitStages: [End]}'), 'allowed stages are RequestReceived,'],
  ['an unknown field', policyOf('- {level: None, user: [a]}'), 'unknown field "rules[0].user"'],
  ['a URL without a slash', policyOf('- {level: None, nonResourceURLs: [x]}'), "must begin with a '/'"],
  [
    'URLs beside resources',
    policyOf("- {level: None, nonResourceURLs: [/x], resources: [{group: ''}]}"),
    'cannot apply to both',
  ],
  [
    'names without resources',
    policyOf("- {level: None, resources: [{group: '', resourceNames: [a]}]}"),
    'using resourceNames requires at least one resource',
  ],
])('a policy with %s is rejected', (_name, text, message) => {
  expect(() => parseAuditPolicy(text)).toThrow(message);
});
