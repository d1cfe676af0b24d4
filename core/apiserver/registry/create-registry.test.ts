import { expect, test } from 'vitest';
import { registryOf } from '../../api/scheme/index.ts';
import { NO_OPTIONS, podOf, refusalOf, scopeOf, storageIn, testRegistry } from './testing/fixtures.ts';

const VERBS: Readonly<Record<string, string>> = {
  get: 'get',
  list: 'list',
  watch: 'watch',
  create: 'create',
  update: 'update',
  patch: 'update',
  delete: 'delete',
  deletecollection: 'deleteCollection',
};

test.each([34, 35, 36])('every verb that 1.%i serves has somebody who does it', (minor) => {
  const { registry } = testRegistry({ minor });
  const missing = registryOf(minor).resources.flatMap((type) => {
    const paths = [
      { name: '', verbs: type.verbs, connects: false },
      ...type.subresources.map(({ name, verbs, connects }) => ({ name, verbs, connects })),
    ];
    return paths.flatMap(({ name, verbs, connects }) => {
      const storage = registry.storageOf(type.group, type.plural, name);
      const needed = verbs.map((verb) => {
        if (connects || name === 'log') return 'connect';
        return verb === 'create' && name !== '' ? 'createNamed' : VERBS[verb]!;
      });
      return needed
        .filter((method) => typeof storage?.[method as keyof typeof storage] !== 'function')
        .map((method) => `${type.plural}.${type.group}/${name} ${method}`);
    });
  });
  registry.close();
  expect(missing).toEqual([]);
});

test('groups that serve one kind share its storage', () => {
  const { registry } = testRegistry();
  expect(registry.storageOf('', 'events', '')).toBe(registry.storageOf('events.k8s.io', 'events', ''));
  registry.close();
});

test.each([
  [true, 'no error'],
  [
    false,
    '422 Invalid: Pod "web" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  ],
])('with --allow-privileged=%s a privileged pod is answered with: %s', async (allowPrivileged, answer) => {
  const opened = testRegistry({ allowPrivileged });
  const pod = podOf('web', {
    containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }],
  });
  const made = storageIn(opened, '', 'pods').create(scopeOf(), pod, NO_OPTIONS);
  expect(await refusalOf(made)).toBe(answer);
  opened.registry.close();
});
