import { expect, test } from 'vitest';
import { userInfo } from '../../server/user.ts';
import { resourceAttributes } from '../authorizer.ts';
import { aggregatedRules } from '../rbac/aggregation.ts';
import { PolicyIndex } from '../rbac/policy-index.ts';
import { rbacAuthorizer } from '../rbac/rbac-authorizer.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { parseRuleText } from './rule-text.ts';

const MINORS = [34, 35, 36] as const;

// Cluster roles, their bindings, roles, their bindings: upstream's, and our own.
test('every release has all of its roles and bindings', () => {
  const counts = MINORS.map((minor) => {
    const policy = bootstrapPolicy(minor);
    return [policy.clusterRoles, policy.clusterRoleBindings, policy.roles, policy.roleBindings].map(
      (list) => list.length,
    );
  });
  expect(counts).toEqual([
    [68 + 6, 49 + 6, 7 + 1, 7 + 1],
    [68 + 6, 49 + 6, 7 + 1, 7 + 1],
    [69 + 6, 50 + 6, 7 + 1, 7 + 1],
  ]);
});

test.each(MINORS)('1.%i: every binding is to a role that exists', (minor) => {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = bootstrapPolicy(minor);
  const known = new Set([
    ...clusterRoles.map(({ metadata }) => `ClusterRole ${metadata.name}`),
    ...roles.map(({ metadata }) => `Role ${metadata.namespace}/${metadata.name}`),
  ]);
  const missing = [
    ...clusterRoleBindings.map(({ roleRef }) => `ClusterRole ${roleRef.name}`),
    ...roleBindings.map(({ roleRef, metadata }) => `Role ${metadata.namespace}/${roleRef.name}`),
  ].filter((reference) => !known.has(reference));
  expect(missing).toEqual([]);
});

test('a rule of the table reads as the object that it represents', () => {
  expect([
    parseRuleText('1.36+ read core,apps pods,pods/log a', 36),
    parseRuleText('1.36+ read core,apps pods', 35),
    parseRuleText('<1.36 get /healthz,/livez/*', 35),
    parseRuleText('<1.36 get /healthz', 36),
  ]).toEqual([
    {
      apiGroups: ['', 'apps'],
      resourceNames: ['a'],
      resources: ['pods', 'pods/log'],
      verbs: ['get', 'list', 'watch'],
    },
    undefined,
    { nonResourceURLs: ['/healthz', '/livez/*'], verbs: ['get'] },
    undefined,
  ]);
});

const standing = () => {
  const index = new PolicyIndex();
  const policy = bootstrapPolicy(36);
  // The aggregation controller works in steps: view fills edit, edit fills admin.
  for (const role of policy.clusterRoles) index.upsertClusterRole(role);
  for (const name of ['view', 'edit', 'admin']) {
    const role = policy.clusterRoles.find(({ metadata }) => metadata.name === name)!;
    index.upsertClusterRole({ ...role, rules: aggregatedRules(role, index.clusterRoles())! });
  }
  for (const binding of policy.clusterRoleBindings) index.upsertClusterRoleBinding(binding);
  for (const binding of policy.roleBindings) index.upsertRoleBinding(binding);
  for (const role of policy.roles) index.upsertRole(role);
  for (const role of ['view', 'edit', 'admin'])
    index.upsertRoleBinding({
      metadata: { namespace: 'ns', name: role },
      roleRef: { kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'User', name: role }],
    });
  return rbacAuthorizer(index);
};

test.each([
  ['view', 'get', '', 'pods', 'ns', true],
  ['view', 'get', '', 'secrets', 'ns', false],
  ['view', 'create', '', 'pods', 'ns', false],
  ['edit', 'create', 'apps', 'deployments', 'ns', true],
  ['edit', 'get', '', 'secrets', 'ns', true],
  ['edit', 'create', 'rbac.authorization.k8s.io', 'roles', 'ns', false],
  ['admin', 'create', 'rbac.authorization.k8s.io', 'rolebindings', 'ns', true],
  ['admin', 'get', '', 'pods', 'other', false],
  ['system:kube-scheduler', 'create', '', 'pods/binding', 'ns', true],
  ['system:kube-scheduler', 'update', 'coordination.k8s.io', 'leases', 'kube-system', true],
  ['system:serviceaccount:kube-system:deployment-controller', 'create', 'apps', 'replicasets', 'ns', true],
  ['system:serviceaccount:default:deployment-controller', 'create', 'apps', 'replicasets', 'ns', false],
  ['system:node:n1', 'get', '', 'secrets', 'ns', false],
])('%s may %s %s/%s in %s: %s', async (name, verb, apiGroup, target, namespace, expected) => {
  const [resource = '', subresource = ''] = target.split('/');
  // kube-scheduler is the name of its lease.
  const attributes = resourceAttributes(userInfo(name), {
    verb,
    apiGroup,
    resource,
    subresource,
    namespace,
    name: 'kube-scheduler',
  });
  expect((await standing().authorize(attributes)).decision === 'allow').toBe(expected);
});

test('the console reads much, and no secrets', async () => {
  const authorizer = standing();
  const console = userInfo('c', ['pilothouse:console']);
  const may = async (verb: string, apiGroup: string, resource: string) =>
    (await authorizer.authorize(resourceAttributes(console, { verb, apiGroup, resource }))).decision ===
    'allow';
  expect([
    await may('watch', '', 'pods'),
    await may('list', 'apps', 'deployments'),
    await may('list', '', 'secrets'),
    await may('delete', '', 'pods'),
    await may('create', 'rbac.authorization.k8s.io', 'clusterrolebindings'),
  ]).toEqual([true, true, false, false, false]);
});
