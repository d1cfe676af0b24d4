import { expect, test } from 'vitest';
import { parseStorageKey, registryOf, RESOURCES, storageKeyOf, storagePrefixOf } from './index.ts';

const registry = registryOf(36);
const find = (group: string, version: string, resource: string) =>
  registry.findByResource({ group, version, resource })!;

test.each([
  ['', 'v1', 'pods', '/registry/pods/ns/x'],
  ['', 'v1', 'services', '/registry/services/specs/ns/x'],
  ['', 'v1', 'endpoints', '/registry/services/endpoints/ns/x'],
  ['', 'v1', 'nodes', '/registry/minions/x'],
  ['', 'v1', 'replicationcontrollers', '/registry/controllers/ns/x'],
  ['', 'v1', 'events', '/registry/events/ns/x'],
  ['events.k8s.io', 'v1', 'events', '/registry/events/ns/x'],
  ['apps', 'v1', 'deployments', '/registry/deployments/ns/x'],
  ['networking.k8s.io', 'v1', 'ingresses', '/registry/ingress/ns/x'],
  ['coordination.k8s.io', 'v1', 'leases', '/registry/leases/ns/x'],
  [
    'apiextensions.k8s.io',
    'v1',
    'customresourcedefinitions',
    '/registry/apiextensions.k8s.io/customresourcedefinitions/x',
  ],
  ['apiregistration.k8s.io', 'v1', 'apiservices', '/registry/apiregistration.k8s.io/apiservices/x'],
  ['rbac.authorization.k8s.io', 'v1', 'clusterroles', '/registry/clusterroles/x'],
  ['autoscaling', 'v1', 'horizontalpodautoscalers', '/registry/horizontalpodautoscalers/ns/x'],
])('%s/%s %s are kept where upstream keeps them', (group, version, resource, key) => {
  const type = find(group, version, resource);
  const namespace = type.namespaced ? 'ns' : '';
  expect(storageKeyOf(type, namespace, 'x')).toBe(key);
  expect(parseStorageKey(type, key)).toEqual({ namespace, name: 'x' });
});

test('the namespace bounds a prefix with a slash', () => {
  const pods = find('', 'v1', 'pods');
  expect([storagePrefixOf(pods), storagePrefixOf(pods, 'a')]).toEqual([
    '/registry/pods/',
    '/registry/pods/a/',
  ]);
  expect(parseStorageKey(pods, '/registry/pods/a')).toBeUndefined();
});

test('kinds with several names are stored in one version', () => {
  expect(find('autoscaling', 'v1', 'horizontalpodautoscalers').storage?.gvk).toEqual({
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
  });
  expect(find('events.k8s.io', 'v1', 'events').storage?.gvk).toEqual({
    group: '',
    version: 'v1',
    kind: 'Event',
  });
});

test('groups come in order of priority, their versions with the preferred first', () => {
  expect(registry.groups.slice(0, 7)).toEqual([
    { group: '', versions: ['v1'] },
    { group: 'apiregistration.k8s.io', versions: ['v1'] },
    { group: 'apps', versions: ['v1'] },
    { group: 'events.k8s.io', versions: ['v1'] },
    { group: 'authentication.k8s.io', versions: ['v1'] },
    { group: 'authorization.k8s.io', versions: ['v1'] },
    { group: 'autoscaling', versions: ['v2', 'v1'] },
  ]);
  expect(registry.findPreferred({ group: 'autoscaling', kind: 'HorizontalPodAutoscaler' })?.version).toBe(
    'v2',
  );
});

test('an older release does not know what came later', () => {
  const gvk = { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingAdmissionPolicy' };
  expect([34, 35, 36].map((minor) => registryOf(minor).findByKind(gvk) !== undefined)).toEqual([
    false,
    false,
    true,
  ]);
});

test('no two resources of a group version share a name', () => {
  const names = RESOURCES.flatMap((type) =>
    [type.plural, type.singular, ...type.shortNames].map((name) => `${type.group}/${type.version}/${name}`),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual(['/v1/endpoints']);
});
