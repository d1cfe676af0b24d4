import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';
import { memoryWriter, type MemoryWriter } from './testing/memory-writer.ts';

const MAPS = { group: '', resource: 'configmaps' };
const map = (value: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'a' },
  data: { value },
});
const wanted = {
  object: map('right'),
  revise: (stored: KubernetesObject) =>
    (stored['data'] as { value: string }).value === 'right'
      ? undefined
      : { ...stored, data: { value: 'right' } },
};

/** A cache that is never updated, over a store that is. */
const behind = (writer: MemoryWriter) => {
  const held = new Map(writer.objects);
  const newestReads: string[] = [];
  const onCache: ObjectWriter = {
    ...writer,
    get(resource, namespace, name) {
      newestReads.push(name);
      return writer.get(resource, namespace, name);
    },
    seen: (resource, namespace, name) =>
      Promise.resolve(held.get(`${resource.resource}/${namespace}/${name}`)),
  };
  return { onCache, newestReads };
};

test('a valid cached value is not read from etcd', async () => {
  const writer = memoryWriter();
  writer.put(MAPS, map('right'));
  const { onCache, newestReads } = behind(writer);
  expect((await ensureObject(onCache, MAPS, wanted)).metadata?.resourceVersion).toBe('1');
  expect([newestReads, writer.writes]).toEqual([[], []]);
});

test('a cache that is behind costs a try: what was written meanwhile is read before it is judged again', async () => {
  const writer = memoryWriter();
  writer.put(MAPS, map('wrong'));
  const { onCache, newestReads } = behind(writer);
  writer.put(MAPS, map('right'));
  expect((await ensureObject(onCache, MAPS, wanted)).metadata?.resourceVersion).toBe('2');
  expect([newestReads, writer.writes]).toEqual([['a'], []]);
});

test('an object missing from the cache is read from etcd before it is created', async () => {
  const writer = memoryWriter();
  const { onCache, newestReads } = behind(writer);
  writer.put(MAPS, map('right'));
  await ensureObject(onCache, MAPS, wanted);
  expect([newestReads, writer.writes]).toEqual([['a'], []]);
});
