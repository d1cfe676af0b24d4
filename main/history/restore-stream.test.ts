import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import { jsonText, notFound } from '../../core/api/meta/index.ts';
import { openDecoder, type Source } from '../../core/cluster/history/index.ts';
import type { RestoreStep } from '../../core/contract/index.ts';
import type { ClusterConnection } from '../kube/connections.ts';
import { createRestore } from './restore-stream.ts';

const OBJECTS = 40;
const keyOf = (at: number): string => `/registry/configmaps/web/c${String(at).padStart(3, '0')}`;
const keys = Array.from({ length: OBJECTS }, (_, at) => keyOf(at));

const stored = (key: string) => ({
  key,
  value: Buffer.from(
    jsonText({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: key.split('/').at(-1), namespace: 'web' },
    }),
  ),
  modRevision: 7,
  createRevision: 2,
  version: 1,
});
const source: Source = {
  revision: 9,
  async *keys() {
    for (const key of keys) yield stored(key);
  },
  async *values() {
    for (const key of keys) yield stored(key);
  },
  read: (key) => Promise.resolve(stored(key)),
};

/** A server without ConfigMaps where every write takes 100 ms of the clock. */
const restoring = async (fails?: Error) => {
  const clock = manualClock();
  const writes: string[] = [];
  let onWrite = (): void => undefined;
  const connection = {
    client: {
      text: async ({ method, path, body }: { method: string; path: string; body?: object }) => {
        if (method === 'GET' && path.endsWith('/namespaces/web'))
          return jsonText({ metadata: { name: 'web' } });
        if (method === 'GET') throw notFound({ group: '', resource: 'x' }, path);
        clock.advance(100);
        writes.push(path);
        onWrite();
        return jsonText(body);
      },
    },
    discovery: () =>
      Promise.resolve({
        resources: [{ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }],
      }),
  } as unknown as ClusterConnection;
  const open = () => (fails ? Promise.reject(fails) : Promise.resolve(connection));
  const decoder = await openDecoder([], clock);
  const restore = createRestore({
    clock,
    connections: { open, openForWriting: open },
    at: (_cluster, _moment, run) => run(source),
    withDecoder: (_cluster, run) => run(decoder),
  });
  const controller = new AbortController();
  const request = {
    cluster: 'c',
    at: { kind: 'now' as const },
    selection: { kind: 'objects' as const, keys },
    dryRun: false,
  };
  return {
    writes,
    controller,
    steps: restore(request, controller.signal),
    whenWritten: (run: () => void) => void (onWrite = run),
  };
};

const read = async (steps: AsyncIterable<readonly RestoreStep[]>): Promise<RestoreStep[]> => {
  const all: RestoreStep[] = [];
  for await (const batch of steps) all.push(...batch);
  return all;
};

test('a restore says how far it has come, and its last step has the report', async () => {
  const { steps, writes } = await restoring();
  const told = await read(steps);
  expect(told[0]).toMatchObject({ total: OBJECTS, report: null });
  const counts = told.map(({ counts: { created } }) => created);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(told.filter(({ report }) => report !== null)).toHaveLength(1);
  expect(told.at(-1)).toMatchObject({
    total: OBJECTS,
    counts: { created: OBJECTS, failed: 0 },
    report: { counts: { created: OBJECTS } },
  });
  expect(writes).toHaveLength(OBJECTS);
});

test('once it is closed no further object is written', async () => {
  const { steps, writes, controller, whenWritten } = await restoring();
  whenWritten(() => {
    if (writes.length === 5) controller.abort();
  });
  await read(steps).catch(() => undefined);
  expect(writes).toHaveLength(5);
});

test('a restore that cannot begin ends with the reason', async () => {
  const { steps } = await restoring(new Error('cp-1 is read-only'));
  await expect(read(steps)).rejects.toThrow('cp-1 is read-only');
});
