import { expect, test } from 'vitest';
import type { FoundObject, KubeResource } from '../../../core/contract/index.ts';
import { indexed, searchObjects } from './object-search.ts';

const resource = (kind: string, plural: string, shortNames: string[] = []): KubeResource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced: true,
  singular: '',
  shortNames,
  categories: [],
  verbs: [],
  subresources: [],
  isPreferred: true,
});
const POD = resource('Pod', 'pods', ['po']);
const SERVICE = resource('Service', 'services', ['svc']);
const object = (kind: KubeResource, name: string, over: Partial<FoundObject> = {}) =>
  indexed({ resource: kind.plural, namespace: 'shop', name, labels: '', addresses: [], ...over }, kind);
const objects = [
  object(POD, 'web-7d4b9-x2', { labels: 'app=web tier=front', addresses: ['10.0.0.9'] }),
  object(POD, 'ledger-0', { labels: 'app=ledger', addresses: ['10.0.0.91'] }),
  object(SERVICE, 'web', { addresses: ['10.96.0.7'] }),
  object(SERVICE, 'cobweb', { namespace: 'bank' }),
];
const found = (query: string): string[] =>
  searchObjects(objects, query, 10).map(
    ({ found: { resource: kind, object: each } }) => `${kind.kind} ${each.name}`,
  );

test.each([
  ['web', ['Service web', 'Pod web-7d4b9-x2', 'Service cobweb']],
  ['pod web', ['Pod web-7d4b9-x2']],
  ['svc', ['Service web', 'Service cobweb']],
  ['10.0.0.9', ['Pod web-7d4b9-x2', 'Pod ledger-0']],
  ['10.96', ['Service web']],
  ['app=ledger', ['Pod ledger-0']],
  ['bank', ['Service cobweb']],
  ['nothing', []],
  ['', []],
])('%s', (query, expected) => {
  expect(found(query)).toEqual(expected);
});

test('matched letters are highlighted, and only the best results are kept', () => {
  const many = Array.from({ length: 500 }, (_, index) => object(POD, `web-${index}`));
  const results = searchObjects(many, 'web-4', 3);
  expect(results.map(({ found: { name } }) => name)).toEqual(['web-4', 'web-40', 'web-41']);
  expect(results[0]?.parts).toEqual([{ text: 'web-4', matched: true }]);
});
