import { inEnglish, type Said } from '../../core/contract/index.ts';
import { expect, test } from 'vitest';
import { StatusError } from '../../core/api/meta/status.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import type { Client, Pod, Stored } from '../../core/client/index.ts';
import type { ActionOf } from '../clusters/operation-runner.ts';
import { judgePods, refusalOfDrain } from './drain-filter.ts';
import { DRAIN_LIMIT_MS, drainNode, EVICT_RETRY_MS, GONE_POLL_MS } from './drain.ts';

const pod = (name: string, over: Partial<Pod> = {}): Stored<Pod> => ({
  ...over,
  metadata: {
    name,
    namespace: 'web',
    uid: `uid-${name}`,
    resourceVersion: '1',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'r', controller: true }],
    ...over.metadata,
  } as Stored<Pod>['metadata'],
});
const daemon = (name: string): Stored<Pod> =>
  pod(name, {
    metadata: {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: 'd', controller: true }],
    },
  });
const alone = (name: string, over: Partial<Pod> = {}): Stored<Pod> =>
  pod(name, { ...over, metadata: { ownerReferences: [] } });
const mirror = pod('mirror', {
  metadata: { ownerReferences: [], annotations: { 'kubernetes.io/config.mirror': 'x' } },
});
const withLocalData = pod('data', { spec: { containers: [], volumes: [{ name: 'v', emptyDir: {} }] } });

const notFound = (): StatusError =>
  new StatusError('NotFound', 'daemonsets.apps "ds" not found', { code: 404 });
const choices = { ignoreDaemonSets: false, deleteEmptyDirData: false, force: false };
const isGone = (error: unknown): boolean => error instanceof StatusError && error.code === 404;
const found = () => Promise.resolve({} as never);

test('pods that block a drain are reported in the words of kubectl, grouped by reason', async () => {
  const pods = [daemon('a'), daemon('b'), alone('c'), withLocalData, mirror, pod('plain')];
  expect(inEnglish(refusalOfDrain(await judgePods(pods, choices, found, isGone))!)).toBe(
    'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): web/a, web/b; ' +
      'cannot delete Pods that declare no controller (use --force to override): web/c; ' +
      'cannot delete Pods with local storage (use --delete-emptydir-data to override): web/data',
  );
});

test('with every option set only DaemonSet pods and mirror pods stay', async () => {
  const pods = [daemon('a'), alone('c'), withLocalData, mirror, pod('plain')];
  const all = { ignoreDaemonSets: true, deleteEmptyDirData: true, force: true };
  const verdicts = await judgePods(pods, all, found, isGone);
  expect(verdicts.map(({ fate }) => fate)).toEqual(['stay', 'evict', 'evict', 'stay', 'evict']);
});

test('finished pods go without being forced; a pod whose DaemonSet is gone goes with force only', async () => {
  const done = alone('done', { status: { phase: 'Succeeded' } });
  const gone = (): Promise<never> => Promise.reject(notFound());
  const fates = async (force: boolean) =>
    (await judgePods([done, daemon('a')], { ...choices, force }, gone, isGone)).map(({ fate }) => fate);
  expect([await fates(false), await fates(true)]).toEqual([
    ['evict', 'refuse'],
    ['evict', 'evict'],
  ]);
});

/** A server with one node; `evict` answers each attempt, and pods leave when a test says so. */
const fakeServer = (
  pods: Stored<Pod>[],
  evict: (name: string, attempt: number) => StatusError | undefined,
) => {
  const writes: string[] = [];
  const there = new Map(pods.map((each) => [each.metadata.name, each]));
  const attempts = new Map<string, number>();
  const client = {
    resource: (kind: { plural: string }) => ({
      get: () => Promise.resolve({ metadata: { name: 'n1' }, spec: {} }),
      patch: (name: string, patch: { body: unknown }) => {
        writes.push(`${kind.plural}/${name} ${JSON.stringify(patch.body)}`);
        return Promise.resolve({});
      },
      iterate: async function* () {
        yield* pods;
      },
      find: (name: string) => Promise.resolve(there.get(name)),
      createSubresource: (name: string, subresource: string, body: { deleteOptions: unknown }) => {
        const attempt = (attempts.get(name) ?? 0) + 1;
        attempts.set(name, attempt);
        writes.push(`${name}/${subresource} ${JSON.stringify(body.deleteOptions)}`);
        const error = evict(name, attempt);
        return error ? Promise.reject(error) : Promise.resolve({});
      },
    }),
  } as unknown as Client;
  return { client, writes, there };
};
const action: ActionOf<'node.drain'> = {
  kind: 'node.drain',
  node: 'n1',
  ...choices,
  gracePeriodSeconds: null,
};
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};
const run = (client: Client, over: Partial<typeof action> = {}) => {
  const clock = manualClock();
  const said: string[] = [];
  const outcome = drainNode(() => Promise.resolve({ client }), clock)(
    { ...action, ...over },
    {
      cluster: 'c',
      signal: new AbortController().signal,
      report: {
        plan: (steps) => said.push(`plan ${steps.map(({ id }) => id).join(' ')}`),
        begin: (id) => said.push(`begin ${id}`),
        detail: (id, detail) => said.push(`${id}: ${detail ? inEnglish(detail) : ''}`),
        end: (id) => said.push(`end ${id}`),
        checkpoint: () => Promise.resolve(),
      },
    },
  ).catch((error: Error) => error);
  return { clock, said, outcome };
};

test('a drain cordons, evicts and waits until each pod is gone', async () => {
  const { client, writes, there } = fakeServer([pod('a'), daemon('b')], () => undefined);
  const { clock, said, outcome } = run(client, { ignoreDaemonSets: true, gracePeriodSeconds: 7 });
  await turns();
  expect(said.at(-1)).toBe('pod:web/a: evicted; waiting for its containers to terminate');
  there.delete('a');
  clock.advance(GONE_POLL_MS);
  expect(inEnglish((await outcome) as Said)).toBe('node/n1 drained: 1 pod evicted');
  expect(writes).toEqual(['nodes/n1 {"spec":{"unschedulable":true}}', 'a/eviction {"gracePeriodSeconds":7}']);
  expect(said.at(-1)).toBe('end pod:web/a');
});

test('an eviction that a disruption budget refuses is tried again', async () => {
  const tooMany = new StatusError(
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    { code: 429 },
  );
  const { client, there } = fakeServer([pod('a')], (_name, attempt) => (attempt < 3 ? tooMany : undefined));
  const { clock, said, outcome } = run(client);
  await turns();
  expect(said.at(-1)).toBe(
    `pod:web/a: error when evicting pods/"a" -n "web" (will retry after 5s): ${tooMany.message}`,
  );
  for (let attempt = 0; attempt < 2; attempt += 1) {
    clock.advance(EVICT_RETRY_MS);
    await turns();
  }
  there.delete('a');
  clock.advance(GONE_POLL_MS);
  expect(inEnglish((await outcome) as Said)).toBe('node/n1 drained: 1 pod evicted');
});

test('a budget that never allows it ends the drain with the name of the pod', async () => {
  const { client } = fakeServer([pod('a')], () => new StatusError('TooManyRequests', 'no', { code: 429 }));
  const { clock, outcome } = run(client);
  for (let waited = 0; waited <= DRAIN_LIMIT_MS; waited += EVICT_RETRY_MS) {
    await turns();
    clock.advance(EVICT_RETRY_MS);
  }
  expect((await outcome) as Error).toMatchObject({
    message:
      'unable to drain node "n1" due to error: error when evicting pods/"a" -n "web": global timeout reached: 30m0s. It stays cordoned.',
  });
});

test('nothing is evicted when a pod is in the way', async () => {
  const { client, writes } = fakeServer([pod('a'), alone('b')], () => undefined);
  const { outcome } = run(client);
  expect((await outcome) as Error).toMatchObject({
    message:
      'unable to drain node "n1" due to error: cannot delete Pods that declare no controller (use --force to override): web/b. It stays cordoned.',
  });
  expect(writes).toEqual(['nodes/n1 {"spec":{"unschedulable":true}}']);
});
