import { expect, expectTypeOf, test } from 'vitest';
import { hasReason } from '../base/errors.ts';
import { BoundedQueue } from '../base/bounded-queue.ts';
import { connectClient } from './client.ts';
import type { InputOf, ItemOf, OutputOf } from './contract.ts';
import { fakeHost } from './fake.ts';
import { serveConnection } from './host.ts';
import { STREAM_BATCHES_IN_FLIGHT_MAX, type HostMessage } from './messages.ts';
import { settingsDefault, type Settings, type SettingsPatch } from './schemas/settings.ts';

const turns = async (count = 20): Promise<void> => {
  for (let i = 0; i < count; i += 1) await Promise.resolve();
};

test('types of input, output and items follow from the map', () => {
  expectTypeOf<InputOf<'settings.write'>>().toEqualTypeOf<SettingsPatch>();
  expectTypeOf<OutputOf<'settings.write'>>().toEqualTypeOf<Settings>();
  expectTypeOf<ItemOf<'settings.watch'>>().toEqualTypeOf<Settings>();
});

test('a call brings its answer back', async () => {
  const { client } = fakeHost({
    'settings.write': ({ theme = 'system' }) => Promise.resolve({ ...settingsDefault, theme }),
  });
  expect(await client.call('settings.write', { theme: 'dark' })).toEqual({
    ...settingsDefault,
    theme: 'dark',
  });
});

test('an input that does not fit the schema is refused before the handler sees it', async () => {
  let seen = 0;
  const { client } = fakeHost({
    'settings.write': () => {
      seen += 1;
      return Promise.resolve(settingsDefault);
    },
  });
  const error: unknown = await client
    .call('settings.write', { theme: 'pink' as never })
    .catch((caught: unknown) => caught);
  expect({ refused: hasReason(error, 'BadRequest'), seen }).toEqual({ refused: true, seen: 0 });
});

test('an answer that does not fit the schema never reaches the console', async () => {
  const { client } = fakeHost({ 'settings.read': () => Promise.resolve({ theme: 'pink' } as never) });
  const error: unknown = await client.call('settings.read', undefined).catch((caught: unknown) => caught);
  expect(hasReason(error, 'Internal')).toBe(true);
});

test('a call that no handler offers is refused as unimplemented', async () => {
  const error: unknown = await fakeHost({})
    .client.call('settings.read', undefined)
    .catch((caught: unknown) => caught);
  expect(hasReason(error, 'Unimplemented')).toBe(true);
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a string', 'call'],
  ['an unknown kind', { kind: 'exec', id: 1 }],
  ['a call without a name', { kind: 'call', id: 1 }],
  ['an id below one', { kind: 'call', id: 0, name: 'settings.read' }],
  ['a name from the prototype', { kind: 'call', id: 1, name: 'constructor' }],
  ['a stream asked for as a call', { kind: 'call', id: 1, name: 'settings.watch' }],
])('%s is answered with a reason or ignored, and the connection serves on', async (_what, message) => {
  const sent: HostMessage[] = [];
  const host = serveConnection({ 'settings.read': () => Promise.resolve(settingsDefault) }, (m) =>
    sent.push(m),
  );
  host.receive(message);
  host.receive({ kind: 'call', id: 7, name: 'settings.read' });
  await turns();
  expect(sent.at(-1)).toEqual({ kind: 'result', id: 7, value: settingsDefault });
  expect(sent.slice(0, -1).every((m) => m.kind === 'failure' && m.failure.reason === 'BadRequest')).toBe(
    true,
  );
});

test('a stream delivers batches in order and ends', async () => {
  const { client } = fakeHost({
    async *'settings.watch'() {
      yield [settingsDefault, { ...settingsDefault, theme: 'dark' as const }];
      await Promise.resolve();
      yield [{ ...settingsDefault, theme: 'light' as const }];
    },
  });
  const themes: string[] = [];
  const ended = new Promise<unknown>((resolve) =>
    client.open('settings.watch', undefined, {
      onBatch: (items) => themes.push(...items.map((item) => item.theme)),
      onEnd: resolve,
    }),
  );
  expect({ error: await ended, themes }).toEqual({ error: undefined, themes: ['system', 'dark', 'light'] });
});

test('a console that does not consume stops the source after the batches in flight', async () => {
  const sent: HostMessage[] = [];
  let produced = 0;
  const host = serveConnection(
    {
      async *'settings.watch'() {
        for (;;) {
          produced += 1;
          yield [settingsDefault];
          await Promise.resolve();
        }
      },
    },
    (message) => sent.push(message),
  );
  host.receive({ kind: 'open', id: 1, name: 'settings.watch' });
  await turns(100);
  expect(sent).toHaveLength(STREAM_BATCHES_IN_FLIGHT_MAX);
  expect(produced).toBe(STREAM_BATCHES_IN_FLIGHT_MAX + 1);
  host.receive({ kind: 'credit', id: 1 });
  await turns(100);
  expect(sent).toHaveLength(STREAM_BATCHES_IN_FLIGHT_MAX + 1);
  host.close();
});

test('a batch larger than the bound of its stream is split', async () => {
  const { client } = fakeHost({
    async *'settings.watch'() {
      yield Array.from({ length: 20 }, () => settingsDefault);
      await Promise.resolve();
    },
  });
  const sizes: number[] = [];
  await new Promise<unknown>((resolve) =>
    client.open('settings.watch', undefined, {
      onBatch: (items) => sizes.push(items.length),
      onEnd: resolve,
    }),
  );
  expect(sizes).toEqual([8, 8, 4]);
});

const watched = () => {
  const state = { aborted: 0 };
  const fake = fakeHost({
    'settings.watch': (_input, signal) => {
      const queue = new BoundedQueue<Settings>({ itemsMax: 8, overflow: 'drop-oldest' });
      signal.addEventListener('abort', () => {
        state.aborted += 1;
        queue.close();
      });
      queue.push(settingsDefault);
      return queue.batches(8);
    },
  });
  return { ...fake, state };
};

test('disposing a stream aborts its source', async () => {
  const { client, host, state } = watched();
  const stream = client.open('settings.watch', undefined, { onBatch() {}, onEnd() {} });
  await turns();
  expect(host.openStreamCount).toBe(1);
  stream.dispose();
  await turns();
  expect({ open: host.openStreamCount, ...state }).toEqual({ open: 0, aborted: 1 });
});

test('a reloaded page leaves nothing of the old one open', async () => {
  const { client, host, state } = watched();
  for (let i = 0; i < 5; i += 1) client.open('settings.watch', undefined, { onBatch() {}, onEnd() {} });
  await turns();
  expect(host.openStreamCount).toBe(5);
  host.receive({ kind: 'hello' });
  await turns();
  expect({ open: host.openStreamCount, ...state }).toEqual({ open: 0, aborted: 5 });
});

test('losing the wire rejects open calls and ends open streams with a reason', async () => {
  const client = connectClient(() => undefined);
  const call = client.call('settings.read', undefined).catch((caught: unknown) => caught);
  const ended = new Promise<unknown>((resolve) =>
    client.open('settings.watch', undefined, { onBatch() {}, onEnd: resolve }),
  );
  client.close('the host went away');
  expect(await call).toMatchObject({ reason: 'Unavailable', message: 'the host went away' });
  expect(await ended).toMatchObject({ reason: 'Unavailable', message: 'the host went away' });
});

test('a source that fails ends its stream with the reason', async () => {
  const { client } = fakeHost({
    async *'settings.watch'() {
      await Promise.resolve();
      throw new Error('disk on fire');
    },
  });
  const ended = new Promise<unknown>((resolve) =>
    client.open('settings.watch', undefined, { onBatch() {}, onEnd: resolve }),
  );
  expect(await ended).toMatchObject({ reason: 'Internal', message: 'disk on fire' });
});
