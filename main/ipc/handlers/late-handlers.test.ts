import { expect, test } from 'vitest';
import { fakeHost } from '../../../core/contract/fake.ts';
import type { Handlers, LeasesView } from '../../../core/contract/index.ts';
import { lateHandlers } from './late-handlers.ts';

const VIEW = { leases: [] } as unknown as LeasesView;

const host = () => {
  const loads: string[] = [];
  const loaded: Handlers = {
    'certificates.list': () => Promise.resolve([]),
    'leases.watch': async function* () {
      yield [VIEW];
    },
  };
  const handlers = lateHandlers(['certificates.list', 'leases.watch', 'cluster.checks'], () => {
    loads.push('load');
    return Promise.resolve(loaded);
  });
  return { loads, handlers, ...fakeHost(handlers) };
};

test('nothing is loaded before the first call', async () => {
  const { loads, client } = host();
  expect(loads).toEqual([]);
  expect(await client.call('certificates.list', { cluster: 'c' })).toEqual([]);
  expect(loads).toEqual(['load']);
});

test('a stream passes on what the loaded one yields', async () => {
  const { handlers } = host();
  const batches = [];
  for await (const batch of handlers['leases.watch']!({ cluster: 'c' }, new AbortController().signal))
    batches.push(batch);
  expect(batches).toEqual([[VIEW]]);
});

test('a call that the loaded module lacks is unimplemented', async () => {
  const { client } = host();
  await expect(client.call('cluster.checks', { cluster: 'c' })).rejects.toMatchObject({
    reason: 'Unimplemented',
  });
});
