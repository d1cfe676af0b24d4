import { expect, test } from 'vitest';
import { userInfo, type UserInfo } from '../../server/user.ts';
import { pathAttributes, resourceAttributes } from '../authorizer.ts';
import { escalationGuard } from './escalation.ts';
import { PolicyIndex } from './policy-index.ts';
import { rbacAuthorizer, subjectRulesStatus } from './rbac-authorizer.ts';
import { ruleAllows, uncoveredRules } from './rules.ts';
import type { Binding, PolicyRule, Subject } from './types.ts';

const jane = userInfo('jane', ['dev', 'system:authenticated']);
const ask = (what: string, user: UserInfo = jane) => {
  const [verb = '', target = '', namespace = ''] = what.split(' ');
  if (target.startsWith('/')) return pathAttributes(user, verb, target);
  const [group = '', resource = '', subresource = '', name = ''] = target.split(':');
  return resourceAttributes(user, { verb, apiGroup: group, resource, subresource, name, namespace });
};
const rule = (verbs: string, apiGroups: string, resources: string, resourceNames?: string): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: apiGroups.split(','),
  resources: resources.split(','),
  ...(resourceNames && { resourceNames: resourceNames.split(',') }),
});
const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: verbs.split(','),
  nonResourceURLs: urls.split(','),
});

// What is asked reads `verb group:resource:subresource:name`.
test.each([
  ['get :pods', rule('get', '', 'pods'), true],
  ['list :pods', rule('get', '', 'pods'), false],
  ['list :pods', rule('*', '', 'pods'), true],
  ['get apps:deployments', rule('get', '', 'deployments'), false],
  ['get apps:deployments', rule('get', '*', 'deployments'), true],
  ['get :pods:log', rule('get', '', 'pods'), false],
  ['get :pods:log', rule('get', '', 'pods/log'), true],
  ['get :pods:log', rule('get', '', 'pods/*'), false],
  ['get :pods:log', rule('get', '', '*'), true],
  ['update apps:deployments:scale', rule('update', 'apps', '*/scale'), true],
  ['update apps:deployments:status', rule('update', 'apps', '*/scale'), false],
  ['update apps:scale', rule('update', 'apps', '*/scale'), false],
  ['get :secrets::a', rule('get', '', 'secrets', 'a,b'), true],
  ['get :secrets::c', rule('get', '', 'secrets', 'a,b'), false],
  ['list :secrets', rule('list', '', 'secrets', 'a'), false],
  ['get /healthz', paths('get', '/healthz'), true],
  ['get /healthz/etcd', paths('get', '/healthz'), false],
  ['get /healthz/etcd', paths('get', '/healthz/*'), true],
  ['get /apis', paths('get', '*'), true],
  ['post /apis', paths('get', '*'), false],
  ['get /healthz', rule('*', '*', '*'), false],
  ['get :pods', paths('*', '*'), false],
])('%s by %j: %s', (what, given, expected) => {
  expect(ruleAllows(given, ask(what))).toBe(expected);
});

const binding = (name: string, role: string, subject: Subject, namespace?: string): Binding => ({
  metadata: { name, ...(namespace && { namespace }) },
  roleRef: { kind: role.split('/')[0]!, name: role.split('/')[1]! },
  subjects: [subject],
});

const policy = () => {
  const index = new PolicyIndex();
  index.upsertClusterRole({ metadata: { name: 'reader' }, rules: [rule('get,list', '', 'pods')] });
  index.upsertRole({ metadata: { name: 'local', namespace: 'a' }, rules: [rule('create', '', 'pods')] });
  index.upsertClusterRoleBinding(binding('readers', 'ClusterRole/reader', { kind: 'Group', name: 'dev' }));
  index.upsertRoleBinding(binding('makers', 'Role/local', { kind: 'User', name: 'jane' }, 'a'));
  index.upsertRoleBinding(
    binding('robots', 'ClusterRole/reader', { kind: 'ServiceAccount', name: 'bot' }, 'a'),
  );
  return index;
};

test.each([
  [
    'list :pods b',
    jane,
    'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "dev"',
  ],
  ['create :pods a', jane, 'RBAC: allowed by RoleBinding "makers/a" of Role "local" to User "jane"'],
  [
    'get :pods a',
    userInfo('system:serviceaccount:a:bot'),
    'RBAC: allowed by RoleBinding "robots/a" of ClusterRole "reader" to ServiceAccount "bot/a"',
  ],
])('%s is allowed with a reason', async (what, user, reason) => {
  expect(await rbacAuthorizer(policy()).authorize(ask(what, user))).toEqual({ decision: 'allow', reason });
});

test.each([
  ['create :pods b', jane],
  ['create :pods', jane],
  ['get :pods b', userInfo('system:serviceaccount:a:bot')],
  ['get :pods a', userInfo('dev')],
  ['get :pods a', userInfo('joe', ['jane'])],
])('%s is none of the rights of %j', async (what, user) => {
  expect(await rbacAuthorizer(policy()).authorize(ask(what, user))).toEqual({
    decision: 'no-opinion',
    reason: '',
  });
});

test('a change of a binding or a role counts immediately', async () => {
  const index = policy();
  const allowed = async (what: string) =>
    (await rbacAuthorizer(index).authorize(ask(what))).decision === 'allow';
  index.upsertClusterRoleBinding(binding('readers', 'ClusterRole/reader', { kind: 'Group', name: 'ops' }));
  expect(await allowed('list :pods')).toBe(false);
  index.upsertClusterRoleBinding(binding('readers', 'ClusterRole/reader', { kind: 'User', name: 'jane' }));
  expect(await allowed('list :pods')).toBe(true);
  index.delete('ClusterRoleBinding', { name: 'readers' });
  expect(await allowed('list :pods')).toBe(false);
  index.delete('RoleBinding', { namespace: 'a', name: 'makers' });
  expect(await allowed('create :pods a')).toBe(false);
});

test('a binding to a role that is missing is the reason of a refusal', async () => {
  const index = policy();
  index.delete('ClusterRole', { name: 'reader' });
  expect((await rbacAuthorizer(index).authorize(ask('get :pods'))).reason).toBe(
    'RBAC: clusterrole.rbac.authorization.k8s.io "reader" not found',
  );
});

test('the rules of a caller are listed for a review', () => {
  expect(subjectRulesStatus(policy(), jane, 'a')).toEqual({
    resourceRules: [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['create'], apiGroups: [''], resources: ['pods'] },
    ],
    nonResourceRules: [],
    incomplete: false,
  });
});

test.each([
  [rule('*', '*', '*'), rule('get', 'apps', 'deployments/scale', 'a'), true],
  [rule('get', '', '*/scale'), rule('get', '', 'x/scale'), true],
  [rule('get', '', 'pods', 'a'), rule('get', '', 'pods'), false],
  [rule('get', '', 'pods'), rule('*', '', 'pods'), false],
  [rule('get', '', 'pods'), rule('get', '', '*'), false],
  [paths('get', '/a/*'), paths('get', '/a/b'), true],
  [paths('get', '/a'), paths('get', '/a/*'), false],
  [rule('*', '*', '*'), paths('get', '/a'), false],
])('%j covers %j: %s', (owned, wanted, expected) => {
  expect(uncoveredRules([owned], [wanted]).length === 0).toBe(expected);
});

test('no one grants what they do not hold, and the message lists what is missing', async () => {
  const index = policy();
  const guard = escalationGuard(index, rbacAuthorizer(index));
  const write = { user: jane, resource: 'roles' as const, namespace: 'a', name: 'r' };
  expect(await guard.checkRole({ ...write, wanted: [rule('get,create', '', 'pods')] })).toBeUndefined();
  const wanted = [rule('get,delete,patch', '', 'pods,secrets'), paths('get', '/x')];
  expect(await guard.checkRole({ ...write, wanted })).toBe(
    'user "jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "patch"]}\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete" "patch"]}\n' +
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
  );
  expect(
    await guard.checkRole({ ...write, user: userInfo('root', ['system:masters']), wanted }),
  ).toBeUndefined();
});

test('bind and escalate imply all other permissions', async () => {
  const index = policy();
  const guard = escalationGuard(index, rbacAuthorizer(index));
  index.upsertClusterRole({ metadata: { name: 'strong' }, rules: [rule('*', '*', '*')] });
  const bind = { user: jane, namespace: '', roleRef: { kind: 'ClusterRole', name: 'strong' } };
  const write = {
    user: jane,
    resource: 'clusterroles' as const,
    namespace: '',
    name: 'strong',
    wanted: [rule('*', '*', '*')],
  };
  expect([await guard.checkBinding(bind), await guard.checkRole(write)]).toEqual([
    expect.stringContaining('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'),
    expect.stringContaining('is attempting to grant RBAC permissions not currently held'),
  ]);
  index.upsertClusterRole({
    metadata: { name: 'reader' },
    rules: [rule('bind,escalate', 'rbac.authorization.k8s.io', 'clusterroles', 'strong')],
  });
  expect([await guard.checkBinding(bind), await guard.checkRole(write)]).toEqual([undefined, undefined]);
});
