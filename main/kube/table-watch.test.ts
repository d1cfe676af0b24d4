import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import { StatusError } from '../../core/api/meta/status.ts';
import type { ByteStream, Client, RawRequest } from '../../core/client/index.ts';
import { type TableItem, type TableQuery, verbatim } from '../../core/contract/index.ts';
import { BURST_INTERVAL_MS, watchTable } from './table-watch.ts';

const query: TableQuery = {
  cluster: 'c',
  resource: { group: 'apps', version: 'v1', plural: 'deployments' },
  namespace: 'web',
  labelSelector: 'app=web',
  fieldSelector: '',
};
const table = (version: string, ...names: string[]) => ({
  kind: 'Table',
  metadata: { resourceVersion: version },
  columnDefinitions: [{ name: 'Name', type: 'string', format: 'name', priority: 0 }],
  rows: names.map((name) => ({
    cells: [name],
    object: { metadata: { name, namespace: 'web', resourceVersion: `${version}-${name}` } },
  })),
});

/** A server that answers lists from a script and keeps watches open until a test ends them. */
const fakeServer = (lists: readonly unknown[]) => {
  const asked: RawRequest[] = [];
  const watches: { send(event: unknown): void; end(): void }[] = [];
  let listCount = 0;
  const client = {
    json: (request: RawRequest) => {
      asked.push(request);
      const answer = lists[listCount];
      listCount += 1;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    stream: (request: RawRequest): Promise<ByteStream> => {
      asked.push(request);
      const chunks: Uint8Array[] = [];
      let isOver = false;
      let wake = (): void => undefined;
      request.signal?.addEventListener('abort', () => {
        isOver = true;
        wake();
      });
      watches.push({
        send(event) {
          chunks.push(Buffer.from(`${JSON.stringify(event)}\n`));
          wake();
        },
        end() {
          isOver = true;
          wake();
        },
      });
      return Promise.resolve({
        status: 200,
        headers: {},
        dispose: () => undefined,
        async *[Symbol.asyncIterator]() {
          for (;;) {
            const chunk = chunks.shift();
            if (chunk) yield chunk;
            else if (isOver) return;
            else await new Promise<void>((resolve) => (wake = resolve));
          }
        },
      });
    },
  } as unknown as Client;
  return { client, asked, watches };
};

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};

const start = (lists: readonly unknown[]) => {
  const server = fakeServer(lists);
  const clock = manualClock();
  const abort = new AbortController();
  const items: TableItem[] = [];
  let failure: unknown;
  const running = (async () => {
    try {
      const surroundings = { client: server.client, clock, random: seededRandom(1) };
      for await (const batch of watchTable(query, surroundings, abort.signal)) items.push(...batch);
    } catch (error) {
      failure = error;
    }
  })();
  const burst = async (): Promise<TableItem[]> => {
    await turns();
    clock.advance(BURST_INTERVAL_MS);
    await turns();
    return items.splice(0);
  };
  return { ...server, clock, items, burst, stop: () => (abort.abort(), running), failed: () => failure };
};
const rowNames = (items: readonly TableItem[]): string[] =>
  items.flatMap((item) => (item.kind === 'rows' ? item.rows.map(({ name }) => name) : []));

test('a list is read as a table of the namespace, then watched from its version', async () => {
  const { asked, burst, stop } = start([table('7', 'a', 'b')]);
  const items = await burst();
  expect(rowNames(items)).toEqual(['a', 'b']);
  expect(items.some((item) => item.kind === 'listed')).toBe(true);
  expect(asked.map(({ path, query: sent }) => [path, sent?.['watch'], sent?.['resourceVersion']])).toEqual([
    ['/apis/apps/v1/namespaces/web/deployments', undefined, undefined],
    ['/apis/apps/v1/namespaces/web/deployments', true, '7'],
  ]);
  await stop();
});

test('all pages of the first list arrive without the pause that bursts of changes keep', async () => {
  const first = { ...table('7', 'a'), metadata: { resourceVersion: '7', continue: 'more' } };
  const { clock, items, stop } = start([first, table('7', 'b')]);
  await turns();
  expect([rowNames(items), items.some(({ kind }) => kind === 'listed'), clock.monotonicMs()]).toEqual([
    ['a', 'b'],
    true,
    manualClock().monotonicMs(),
  ]);
  await stop();
});

test('changes between two bursts arrive together', async () => {
  const { burst, watches, stop } = start([table('7', 'a')]);
  await burst();
  watches[0]!.send({ type: 'ADDED', object: table('8', 'b') });
  watches[0]!.send({ type: 'DELETED', object: table('9', 'a') });
  const items = await burst();
  expect([rowNames(items), items.filter((item) => item.kind === 'gone')]).toEqual([
    ['b'],
    [{ kind: 'gone', keys: ['web/a'] }],
  ]);
  await stop();
});

test('a watch that ends is continued from the last event, without a list', async () => {
  const { asked, burst, watches, stop } = start([table('7', 'a')]);
  await burst();
  watches[0]!.send({ type: 'BOOKMARK', object: { kind: 'Table', metadata: { resourceVersion: '12' } } });
  await burst();
  watches[0]!.end();
  await burst();
  expect(asked.at(-1)?.query).toMatchObject({ watch: true, resourceVersion: '12' });
  await stop();
});

test('a version that the server no longer has is answered by a new list, and only the difference is reported', async () => {
  const { burst, watches, stop } = start([table('7', 'a', 'b'), table('7', 'a')]);
  await burst();
  watches[0]!.send({
    type: 'ERROR',
    object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' },
  });
  const items = [...(await burst()), ...(await burst())];
  const relists = items.flatMap((item) => (item.kind === 'health' ? [item.health.relistCount] : []));
  expect([rowNames(items), items.filter((item) => item.kind === 'gone'), relists.at(-1)]).toEqual([
    [],
    [{ kind: 'gone', keys: ['web/b'] }],
    1,
  ]);
  await stop();
});

test('a server that cannot be reached is asked again, and the health says why it waits', async () => {
  const { burst, clock, stop } = start([new Error('connection refused'), table('7', 'a')]);
  const health = (await burst()).findLast((item) => item.kind === 'health');
  expect(health).toMatchObject({ health: { phase: 'waiting', error: verbatim('connection refused') } });
  clock.advance(60_000);
  expect(rowNames([...(await burst()), ...(await burst())])).toEqual(['a']);
  await stop();
});

test('a list that is not allowed ends the stream with the words of the server', async () => {
  const { burst, failed } = start([new StatusError('Forbidden', 'deployments is forbidden', { code: 403 })]);
  await burst();
  expect(failed()).toMatchObject({
    reason: 'Forbidden',
    message: expect.stringContaining('forbidden') as string,
  });
});
