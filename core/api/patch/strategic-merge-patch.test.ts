import { expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import { DEPLOYMENT, list, SCALAR, struct } from './testing/types.ts';

const POD = DEPLOYMENT.field?.('spec')?.field?.('template')?.field?.('spec') ?? SCALAR;
const META = DEPLOYMENT.field?.('metadata') ?? SCALAR;

const pod: JsonObject = {
  containers: [
    { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }], args: ['one'] },
    { name: 'b', image: 'b:1' },
  ],
  nodeSelector: { disk: 'ssd' },
};

test('items are merged by their merge key and the rest is shared', () => {
  const result = applyStrategicMergePatch(pod, { containers: [{ name: 'b', image: 'b:2' }] }, POD);
  expect(result).toEqual({
    ...pod,
    containers: [
      { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }], args: ['one'] },
      { name: 'b', image: 'b:2' },
    ],
  });
  expect(result['nodeSelector']).toBe(pod['nodeSelector']);
});

test('lists without a merge strategy are replaced', () => {
  const result = applyStrategicMergePatch(pod, { containers: [{ name: 'a', args: ['two', 'three'] }] }, POD);
  expect((result['containers'] as JsonObject[])[0]?.['args']).toEqual(['two', 'three']);
});

test('a new item is prepended unless the order is given', () => {
  const add = { containers: [{ name: 'new', image: 'n', env: null }] };
  const names = (patch: JsonObject): unknown =>
    (applyStrategicMergePatch(pod, patch, POD)['containers'] as JsonObject[]).map((item) => item['name']);
  expect([
    names(add),
    names({ ...add, '$setElementOrder/containers': [{ name: 'a' }, { name: 'new' }, { name: 'b' }] }),
    names({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }),
  ]).toEqual([
    ['new', 'a', 'b'],
    ['a', 'new', 'b'],
    ['b', 'a'],
  ]);
});

test('$patch: delete takes an item away, $patch: replace all but the given', () => {
  const names = (patch: JsonObject): unknown =>
    (applyStrategicMergePatch(pod, patch, POD)['containers'] as JsonObject[]).map((item) => item['name']);
  expect([
    names({ containers: [{ $patch: 'delete', name: 'a' }] }),
    names({ containers: [{ $patch: 'replace' }, { name: 'c' }] }),
  ]).toEqual([['b'], ['c']]);
});

test('$patch in an object replaces or empties it', () => {
  const patch = (directive: string): unknown =>
    applyStrategicMergePatch(pod, { nodeSelector: { $patch: directive, arch: 'arm64' } }, POD)[
      'nodeSelector'
    ];
  expect([patch('replace'), patch('delete')]).toEqual([{ arch: 'arm64' }, {}]);
});

test('a null takes a field away, and nulls of new objects do not stay', () => {
  expect(
    applyStrategicMergePatch(
      { labels: { a: '1', b: '2' } },
      { labels: { a: null }, annotations: { c: null, d: '4' } },
      META,
    ),
  ).toEqual({ labels: { b: '2' }, annotations: { d: '4' } });
});

test('scalars are merged as a set and deleted by name', () => {
  const meta: JsonObject = { finalizers: ['a', 'b', 'c'] };
  expect([
    applyStrategicMergePatch(meta, { finalizers: ['d', 'a'] }, META),
    applyStrategicMergePatch(meta, { '$deleteFromPrimitiveList/finalizers': ['b'] }, META),
    applyStrategicMergePatch(
      meta,
      {
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['d', 'c', 'b'],
        finalizers: ['d'],
      },
      META,
    ),
  ]).toEqual([
    { finalizers: ['d', 'a', 'b', 'c'] },
    { finalizers: ['a', 'c'] },
    { finalizers: ['d', 'c', 'b'] },
  ]);
});

test('$retainKeys clears the other members of a union', () => {
  const spec: JsonObject = { volumes: [{ name: 'v', emptyDir: {} }] };
  expect(
    applyStrategicMergePatch(
      spec,
      { volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] },
      POD,
    ),
  ).toEqual({ volumes: [{ name: 'v', hostPath: { path: '/x' } }] });
});

test('a patch that changes nothing gives back equal content and does not touch the input', () => {
  const before = structuredClone(pod);
  expect(applyStrategicMergePatch(pod, { containers: [{ name: 'a', image: 'a:1' }] }, POD)).toEqual(before);
  expect(pod).toEqual(before);
});

test.each<[string, JsonObject, string]>([
  [
    'an item without merge key',
    { containers: [{ image: 'x' }] },
    'map: map[image:x] does not contain declared merge key: name',
  ],
  [
    'an unknown directive',
    { nodeSelector: { $patch: 'frob' } },
    'unknown patch type: frob in map: map[$patch:frob]',
  ],
  [
    'a merge directive in a list',
    { containers: [{ $patch: 'merge', name: 'a' }] },
    'merging lists cannot yet be specified in the patch',
  ],
  [
    'keys beside $retainKeys',
    { volumes: null, $retainKeys: ['containers'], nodeSelector: {} },
    'invalid patch format of retainKeys',
  ],
  [
    'an item outside of the order',
    { containers: [{ name: 'z' }], '$setElementOrder/containers': [{ name: 'a' }] },
    "The order in patch list:\n[map[name:z]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
  ],
  ['mixed items', { containers: [{ name: 'z' }, 'text'] }, 'list element types are not identical'],
  ['a list of lists', { containers: [[]] }, 'list'],
])('%s is refused', (_name, patch, message) => {
  expect(() => applyStrategicMergePatch(pod, patch, POD)).toThrow(message);
});

test('lists of maps that merge need a merge key', () => {
  const type = struct({ items: list(struct({ a: SCALAR }), { patchStrategy: 'merge' }) });
  expect(() => applyStrategicMergePatch({ items: [{ a: 1 }] }, { items: [{ a: 2 }] }, type)).toThrow(
    'cannot merge lists without merge key',
  );
});

test('custom resources have no strategic merge patch', () => {
  expect(() => applyStrategicMergePatch({}, {}, { kind: 'untyped' })).toThrow(
    'strategic merge patch format is not supported',
  );
});
