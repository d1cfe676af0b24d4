import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { bootstrapPolicy } from '../authz/bootstrap/bootstrap-policy.ts';
import { ensureClusterAdminsBinding, ensureRbacPolicy } from './rbac-policy.ts';
import { memoryWriter } from './testing/memory-writer.ts';

const MINOR = 36;
const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };
const BINDINGS = { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' };
const roleKey = (name: string): string => `clusterroles.rbac.authorization.k8s.io//${name}`;
const bindingKey = (name: string): string => `clusterrolebindings.rbac.authorization.k8s.io//${name}`;

const stored = async (change: (object: KubernetesObject) => void, name = 'system:kube-scheduler') => {
  const writer = memoryWriter();
  await ensureRbacPolicy(writer, MINOR, silentLog);
  for (const [resource, key] of [
    [ROLES, roleKey(name)],
    [BINDINGS, bindingKey(name)],
  ] as const) {
    const object = structuredClone(writer.objects.get(key)!);
    change(object);
    writer.put(resource, object);
  }
  writer.writes.length = 0;
  const complete = await ensureRbacPolicy(writer, MINOR, silentLog);
  return { writer, complete };
};

test('an empty cluster gets every default role and binding, and a second run changes nothing', async () => {
  const writer = memoryWriter();
  const policy = bootstrapPolicy(MINOR);
  const count = Object.values(policy).reduce((sum, list) => sum + list.length, 0);
  expect(await ensureRbacPolicy(writer, MINOR, silentLog)).toBe(true);
  expect(writer.objects.size).toBe(count);
  writer.writes.length = 0;
  expect(await ensureRbacPolicy(writer, MINOR, silentLog)).toBe(true);
  expect(writer.writes).toEqual([]);
});

test('rules and subjects that are missing are added, and those of others stay', async () => {
  const extra = { apiGroups: ['x.io'], resources: ['things'], verbs: ['get'] };
  const somebody = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'somebody' };
  const { writer } = await stored((object) => {
    if (object.kind === 'ClusterRole') object['rules'] = [extra];
    else object['subjects'] = [somebody];
  });
  const role = writer.objects.get(roleKey('system:kube-scheduler'))!;
  const binding = writer.objects.get(bindingKey('system:kube-scheduler'))!;
  expect((role['rules'] as object[])[0]).toEqual(extra);
  expect((role['rules'] as object[]).length).toBeGreaterThan(1);
  expect(binding['subjects']).toEqual([
    somebody,
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:kube-scheduler' },
  ]);
});

test('the console’s role loses what an earlier release gave it, and keeps it where it is protected', async () => {
  const writes = { apiGroups: ['*'], resources: ['*'], verbs: ['create', 'update', 'patch', 'delete'] };
  const name = 'pilothouse:console';
  const expected = bootstrapPolicy(MINOR).clusterRoles.find(({ metadata }) => metadata.name === name)!.rules;
  const after = async (annotations: Record<string, string>) => {
    const { writer } = await stored((object) => {
      if (object.kind !== 'ClusterRole') return;
      object.metadata!.annotations = { ...object.metadata!.annotations, ...annotations };
      object['rules'] = [...(object['rules'] as object[]), writes];
    }, name);
    return writer.objects.get(roleKey(name))!['rules'];
  };
  expect([await after({}), await after({ 'rbac.authorization.kubernetes.io/autoupdate': 'false' })]).toEqual([
    expected,
    [...expected!, writes],
  ]);
});

test('autoupdate=false protects a role and a binding', async () => {
  const { writer, complete } = await stored((object) => {
    object.metadata!.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    object['rules'] = [];
    object['subjects'] = [];
    if (object.kind === 'ClusterRoleBinding') (object['roleRef'] as { name: string }).name = 'view';
  });
  expect([writer.writes, complete]).toEqual([[], true]);
});

test('a binding to another role is recreated', async () => {
  const { writer } = await stored((object) => {
    if (object.kind === 'ClusterRoleBinding') (object['roleRef'] as { name: string }).name = 'view';
  });
  expect(writer.writes).toEqual([
    `delete ${bindingKey('system:kube-scheduler')}`,
    `create ${bindingKey('system:kube-scheduler')}`,
  ]);
});

test('the binding of all kubelets to system:node that earlier releases created is removed; one of a person stays', async () => {
  const binding = (labels: Record<string, string>): KubernetesObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'pilothouse:kubelets', uid: '1', labels },
  });
  const outcomes: boolean[] = [];
  for (const labels of [{ 'app.kubernetes.io/managed-by': 'pilothouse' }, {}]) {
    const writer = memoryWriter();
    writer.put(BINDINGS, binding(labels));
    await ensureRbacPolicy(writer, MINOR, silentLog);
    outcomes.push(writer.objects.has(bindingKey('pilothouse:kubelets')));
  }
  expect(outcomes).toEqual([false, true]);
});

test('a role that another server makes at the same moment is taken as it is', async () => {
  const writer = memoryWriter();
  const [first] = bootstrapPolicy(MINOR).clusterRoles;
  writer.interfere(() => writer.put(ROLES, first as unknown as KubernetesObject));
  expect(await ensureRbacPolicy(writer, MINOR, silentLog)).toBe(true);
  expect(writer.writes).not.toContain(`create ${roleKey(first!.metadata.name!)}`);
});

test('kubeadm:cluster-admins is bound to cluster-admin', async () => {
  const writer = memoryWriter();
  await ensureClusterAdminsBinding(writer);
  expect(writer.objects.get(bindingKey('kubeadm:cluster-admins'))).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'Group', name: 'kubeadm:cluster-admins' }],
  });
});
