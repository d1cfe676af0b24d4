import { expect, test } from 'vitest';
import { isOwn, publishedObjects, revised } from './published-objects.ts';

const place = { address: '127.20.0.1', port: 4443, authority: 'PEM' };
const objects = publishedObjects(place);

test('defaults added by the server do not cause another write', () => {
  const stored = {
    ...objects.service,
    spec: { ...objects.service.spec, clusterIP: '127.20.64.7', type: 'ClusterIP' },
  };
  expect(revised(stored, objects.service, ['spec'])).toBeUndefined();
});

test('another leader puts its address in place of the one before, and keeps the rest', () => {
  const stored = { ...objects.slice, metadata: { ...objects.slice.metadata, resourceVersion: '7' } };
  const next = publishedObjects({ ...place, address: '127.20.0.2' }).slice;
  expect(revised(stored, next, ['endpoints', 'ports'])).toEqual({
    ...stored,
    endpoints: [{ addresses: ['127.20.0.2'], conditions: { ready: true } }],
  });
});

test('objects of somebody else are not its own', () => {
  expect([isOwn(undefined), isOwn(objects.apiService), isOwn({ metadata: { labels: { a: 'b' } } })]).toEqual([
    true,
    true,
    false,
  ]);
});
