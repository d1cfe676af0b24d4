import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import type { DiscoveredResource } from '../../core/client/index.ts';
import { ListScopes } from './list-scope.ts';

const resource = (plural: string, namespaced: boolean): DiscoveredResource =>
  ({ group: '', version: 'v1', plural, namespaced }) as DiscoveredResource;

interface Review {
  readonly spec: { readonly resourceAttributes: { readonly resource: string; readonly namespace: string } };
}

const setUp = (allowed: readonly string[]) => {
  const clock = manualClock(0);
  const asked: string[] = [];
  const scopes = new ListScopes({
    clock,
    namespace: 'team',
    resources: () => Promise.resolve([resource('pods', true), resource('nodes', false)]),
    client: {
      json: <T>({ body }: { body?: unknown }) => {
        const { resource: plural, namespace } = (body as Review).spec.resourceAttributes;
        asked.push(`${plural} in ${namespace || 'all'}`);
        return Promise.resolve({ status: { allowed: allowed.includes(asked.at(-1)!) } } as T);
      },
    },
  });
  return { scopes, asked, clock };
};

test('a user who may list everywhere is asked once and not narrowed', async () => {
  const { scopes, asked } = setUp(['pods in all']);
  expect([
    await scopes.of({ group: '', plural: 'pods' }),
    await scopes.of({ group: '', plural: 'pods' }),
  ]).toEqual([null, null]);
  expect(asked).toEqual(['pods in all']);
});

test('a user of one namespace lists that one', async () => {
  const { scopes } = setUp(['pods in team']);
  expect(await scopes.of({ group: '', plural: 'pods' })).toBe('team');
});

test('where nothing is allowed, or the kind has no namespace, the list is sent as it is', async () => {
  const { scopes, asked } = setUp([]);
  expect([
    await scopes.of({ group: '', plural: 'pods' }),
    await scopes.of({ group: '', plural: 'nodes' }),
  ]).toEqual([null, null]);
  expect(asked).toEqual(['pods in all', 'pods in team']);
});

test('a permission that was granted later is noticed', async () => {
  const allowed: string[] = [];
  const { scopes, clock } = setUp(allowed);
  expect(await scopes.of({ group: '', plural: 'pods' })).toBeNull();
  allowed.push('pods in team');
  clock.advance(61_000);
  expect(await scopes.of({ group: '', plural: 'pods' })).toBe('team');
});
