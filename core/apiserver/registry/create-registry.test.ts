import { expect, test } from 'vitest';
import { registryOf } from '../../api/scheme/index.ts';
import { testRegistry } from './testing/fixtures.ts';

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
