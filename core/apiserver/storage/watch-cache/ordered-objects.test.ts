import { expect, test } from 'vitest';
import { CachedObject } from './cached-object.ts';
import { OrderedObjects } from './ordered-objects.ts';

const object = (key: string): CachedObject<string> => new CachedObject(key, new Uint8Array(), 1, key);
const filled = (keys: readonly string[]): OrderedObjects<string> => {
  const objects = new OrderedObjects<string>();
  for (const key of keys) objects.set(object(key));
  return objects;
};
const keysOf = (result: { objects: readonly CachedObject<string>[] }): string[] =>
  result.objects.map(({ key }) => key);

test('objects come in order of their keys, whatever the order they were set in', () => {
  const objects = filled(['/r/b', '/r/a', '/r/c', '/r/a']);
  objects.delete('/r/b');
  objects.delete('/r/none');
  expect([keysOf(objects.range('/r/')), objects.size]).toEqual([['/r/a', '/r/c'], 2]);
});

test('a prefix takes its own and none of its neighbours', () => {
  const objects = filled(['/r', '/r/n/a', '/r/n/b', '/r/n1/a', '/r0', '/q/a']);
  expect(keysOf(objects.range('/r/n/'))).toEqual(['/r/n/a', '/r/n/b']);
  expect(keysOf(objects.range('/x/'))).toEqual([]);
});

test('a page says how many are left after it', () => {
  const objects = filled(['/r/a', '/r/b', '/r/c', '/r/d']);
  const page = objects.range('/r/', { limit: 2, startKey: '/r/a\0' });
  expect([keysOf(page), page.remaining]).toEqual([['/r/b', '/r/c'], 1]);
});

test('an object is encoded once for all readers', () => {
  const one = object('/r/a');
  let made = 0;
  const make = (): Uint8Array => {
    made += 1;
    return Buffer.from(String(made));
  };
  expect([one.encoded('json', make), one.encoded('json', make), made]).toEqual([
    Buffer.from('1'),
    Buffer.from('1'),
    1,
  ]);
});
