import { expect, test } from 'vitest';
import { MemoryStore } from '../registry/testing/fixtures.ts';
import { TransformedStore } from './transformed-store.ts';
import type { StoreEvent } from './store.ts';
import type { PlainValue, ValueTransformer } from './value-transformer.ts';

const KEY = '/registry/secrets/default/a';
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | undefined): string => Buffer.from(value ?? []).toString();

/** `1:value` with the key's number in front; the key with the highest number is the one that writes. */
const numbered = (current: number, read: readonly number[] = [current]): ValueTransformer => ({
  fromStorage(data): PlainValue {
    const [number = '', ...rest] = text(data).split(':');
    if (!read.includes(Number(number))) throw new Error('no matching prefix found');
    return { value: bytes(rest.join(':')), isStale: Number(number) !== current };
  },
  toStorage: (value) => bytes(`${current}:${text(value)}`),
});

/** Answers later, the first call last: an order that no one keeps comes out wrong. */
const slow = (transformer: ValueTransformer): ValueTransformer => {
  const waiting: (() => void)[] = [];
  return {
    toStorage: (value, key) => transformer.toStorage(value, key),
    fromStorage: (data, key) =>
      new Promise((resolve) => {
        waiting.unshift(() => resolve(Promise.resolve().then(() => transformer.fromStorage(data, key))));
        setImmediate(() => waiting.shift()?.());
      }),
  };
};

const setup = (transformer: ValueTransformer) => {
  const memory = new MemoryStore();
  return { memory, store: new TransformedStore(memory, transformer) };
};

test('callers see plain values, etcd the transformed ones', async () => {
  const { memory, store } = setup(numbered(1));
  const created = await store.create(KEY, bytes('a'));
  const updated = await store.guaranteedUpdate(KEY, {
    transform: (current) => ({ value: bytes(`${text(current?.value)}b`) }),
  });
  const [{ items }, got, stored] = await Promise.all([
    store.list('/registry/secrets/'),
    store.get(KEY),
    memory.get(KEY),
  ]);
  const deleted = await store.delete(KEY, {
    check: (current) => expect(text(current.value)).toBe('ab'),
  });
  expect([created, updated, got, items[0]!, stored, deleted].map(({ value }) => text(value))).toEqual([
    'a',
    'ab',
    'ab',
    'ab',
    '1:ab',
    'ab',
  ]);
});

test('an unchanged object is written again only when its key is old', async () => {
  const memory = new MemoryStore();
  const before = new TransformedStore(memory, numbered(1));
  await before.create(KEY, bytes('a'));
  const { revision } = await before.guaranteedUpdate(KEY, { transform: () => 'keep' });
  const after = new TransformedStore(memory, numbered(2, [1, 2]));
  const rewritten = await after.guaranteedUpdate(KEY, { transform: () => 'keep' });
  const again = await after.guaranteedUpdate(KEY, { transform: () => ({ value: bytes('a') }) });
  expect([revision, rewritten.revision - revision, again.revision - rewritten.revision]).toEqual([
    revision,
    1,
    0,
  ]);
  expect([text(rewritten.value), text((await memory.get(KEY)).value)]).toEqual(['a', '2:a']);
});

test('a value that no key reads fails with the reason, in a list with its key', async () => {
  const { memory, store } = setup(numbered(1));
  memory.put(KEY, bytes('9:a'));
  await expect(store.get(KEY)).rejects.toMatchObject({
    reason: 'Internal',
    message: 'no matching prefix found',
  });
  await expect(store.list('/registry/secrets/')).rejects.toThrow(
    `unable to transform key "${KEY}": no matching prefix found`,
  );
});

test.each([
  ['directly', numbered(1)],
  ['later', slow(numbered(1))],
])('a watch gets decrypted values in order when they are decrypted %s', async (_when, transformer) => {
  const { memory, store } = setup(transformer);
  const told: string[] = [];
  const done = new Promise<void>((resolve) => {
    store.watch('/registry/secrets/', 0, {
      onEvents(events: readonly StoreEvent[], revision) {
        told.push(...events.map(({ type, value }) => `${type} ${text(value)}`));
        if (revision === memory.revision && told.length === 3) resolve();
      },
      onEnd: () => undefined,
    });
  });
  memory.put(KEY, bytes('1:a'));
  memory.put(KEY, bytes('1:b'));
  memory.put(KEY, undefined);
  await done;
  expect(told).toEqual(['put a', 'put b', 'delete ']);
});

test('a watch ends with the reason when a value cannot be read', async () => {
  const { memory, store } = setup(slow(numbered(1)));
  const ended = new Promise((resolve) => {
    store.watch('/registry/secrets/', 0, { onEvents: () => undefined, onEnd: resolve });
  });
  memory.put(KEY, bytes('9:a'));
  expect(await ended).toMatchObject({ reason: 'Internal', message: 'no matching prefix found', key: KEY });
});
