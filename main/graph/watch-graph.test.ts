import { expect, test } from 'vitest';
import { StatusError } from '../../core/api/meta/status.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import { TransportError, type Client, type RawRequest } from '../../core/client/index.ts';
import { inEnglish } from '../../core/contract/index.ts';
import { watchGraph } from './watch-graph.ts';

const metadata = { resourceVersion: '1' };
const service = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: { app: 'web' }, ports: [] },
};
const secret = {
  metadata: { name: 'token', namespace: 'shop', managedFields: [{}] },
  data: { key: 'c2VjcmV0' },
};

/** The first picture of what a server answers to lists; watches stay open. */
const firstOf = async (list: (path: string) => unknown, name = 'web') => {
  const stop = new AbortController();
  const client = {
    json: async ({ path }: RawRequest) => {
      const answer = list(path);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    stream: () => new Promise(() => undefined),
  } as unknown as Client;
  const query = { namespace: 'shop', kind: 'Service', name };
  const options = { client, clock: manualClock(), random: seededRandom(1) };
  try {
    for await (const view of watchGraph(query, options, stop.signal)) return view;
    throw new Error('no picture');
  } finally {
    stop.abort();
  }
};

test('kinds that may not be listed are a gap, and nothing of them is called missing', async () => {
  const view = await firstOf((path) => {
    if (path.endsWith('/services')) return { metadata, items: [service] };
    if (path.endsWith('/pods')) return new StatusError('Forbidden', 'no', { code: 403 });
    return { metadata, items: path.endsWith('/secrets') ? [secret] : [] };
  });
  expect(view.nodes.map(({ id, state }) => [id, state])).toEqual([['Service/shop/web', 'ok']]);
  expect(view.gaps.map(inEnglish)[0]).toBe('not read, because you may not list them: Pod');
});

test('a server that does not answer is one failure, not an empty picture', async () => {
  const away = new TransportError('ConnectionRefused', 'connection refused', { maybeProcessed: false });
  await expect(firstOf(() => away)).rejects.toMatchObject({ reason: 'Unavailable' });
  await expect(firstOf(() => new StatusError('Forbidden', 'no', { code: 403 }))).rejects.toMatchObject({
    reason: 'Forbidden',
  });
});

test('an object that does not exist is named', async () => {
  await expect(firstOf(() => ({ metadata, items: [] }), 'gone')).rejects.toThrow(
    'Service "gone" not found in namespace "shop"',
  );
});
