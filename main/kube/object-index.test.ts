import { expect, test } from 'vitest';
import { forbidden } from '../../core/api/meta/index.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import type { ByteStream, Client, RawRequest } from '../../core/client/index.ts';
import type { FoundItem, KubeResource } from '../../core/contract/index.ts';
import { indexedKinds, indexObjects } from './object-index.ts';

const kind = (plural: string, group = '', over: Partial<KubeResource> = {}): KubeResource => ({
  group,
  version: 'v1',
  plural,
  kind: plural,
  namespaced: true,
  singular: '',
  shortNames: [],
  categories: [],
  verbs: ['get', 'list', 'watch'],
  subresources: [],
  isPreferred: true,
  ...over,
});

test('pods come first; events, leases and what cannot be watched are not searched', () => {
  const kinds = [
    kind('secrets'),
    kind('events'),
    kind('leases', 'coordination.k8s.io'),
    kind('endpoints'),
    kind('pods'),
    kind('reviews', 'x', { verbs: ['create'] }),
    kind('deployments', 'extensions', { isPreferred: false }),
  ];
  expect(indexedKinds(kinds).map(({ plural }) => plural)).toEqual(['pods', 'secrets']);
});

const PODS = {
  kind: 'Table',
  metadata: { resourceVersion: '7' },
  columnDefinitions: [{ name: 'Name' }, { name: 'IP' }],
  rows: [
    {
      cells: ['web-1', '10.0.0.9'],
      object: {
        metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' }, resourceVersion: '5' },
      },
    },
    { cells: ['web-2', '<none>'], object: { metadata: { name: 'web-2', namespace: 'shop' } } },
  ],
};
const CONFIG_MAPS = {
  kind: 'PartialObjectMetadataList',
  metadata: { resourceVersion: '7' },
  items: [{ metadata: { name: 'settings', namespace: 'shop' } }],
};

test('names, labels and addresses of all kinds, then what changes; a kind that is refused is named', async () => {
  const asked: RawRequest[] = [];
  const watches = new Map<string, (event: unknown) => void>();
  const client = {
    json: (request: RawRequest) => {
      asked.push(request);
      if (request.path.endsWith('/secrets'))
        return Promise.reject(forbidden({ group: '', resource: 'secrets' }, '', 'no'));
      return Promise.resolve(request.path.endsWith('/pods') ? PODS : CONFIG_MAPS);
    },
    stream: (request: RawRequest): Promise<ByteStream> => {
      asked.push(request);
      const chunks: Uint8Array[] = [];
      let wake = (): void => undefined;
      request.signal?.addEventListener('abort', () => wake());
      watches.set(request.path, (event) => {
        chunks.push(Buffer.from(`${JSON.stringify(event)}\n`));
        wake();
      });
      return Promise.resolve({
        status: 200,
        headers: {},
        dispose: () => undefined,
        async *[Symbol.asyncIterator]() {
          while (request.signal?.aborted !== true) {
            const chunk = chunks.shift();
            if (chunk) yield chunk;
            else await new Promise<void>((resolve) => (wake = resolve));
          }
        },
      });
    },
  } as unknown as Client;
  const clock = manualClock();
  const stop = new AbortController();
  const items: FoundItem[] = [];
  const reading = (async () => {
    const kinds = [kind('pods'), kind('configmaps'), kind('secrets')];
    for await (const batch of indexObjects(kinds, { client, clock, random: seededRandom(1) }, stop.signal))
      items.push(...batch);
  })();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await settle();
  await settle();
  const objects = items.flatMap((item) => (item.kind === 'objects' ? item.objects : []));
  expect(
    objects.map(({ resource, name, labels, addresses }) => [resource, name, labels, ...addresses]),
  ).toEqual([
    ['pods', 'web-1', 'app=web', '10.0.0.9'],
    ['pods', 'web-2', ''],
    ['configmaps', 'settings', ''],
  ]);
  expect(items.filter((item) => item.kind === 'state').at(-1)).toEqual({
    kind: 'state',
    listedCount: 3,
    kindCount: 3,
    isCut: false,
    refused: ['secrets'],
  });
  expect(asked.find(({ path }) => path.endsWith('/configmaps'))?.accept).toContain(
    'PartialObjectMetadataList',
  );

  items.length = 0;
  watches.get('/api/v1/pods')?.({ type: 'DELETED', object: { ...PODS, rows: PODS.rows.slice(0, 1) } });
  await settle();
  expect(items).toContainEqual({ kind: 'gone', keys: ['pods/shop/web-1'] });

  stop.abort();
  await reading;
});
