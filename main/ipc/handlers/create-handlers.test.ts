import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../core/base/log.ts';
import { manualClock, type ManualClock } from '../../../core/base/manual-clock.ts';
import type { InputOf, ItemOf, StreamName } from '../../../core/contract/index.ts';
import { fakeHost } from '../../../core/contract/fake.ts';
import { createHandlers, type HandlerDependencies, type HandlerSet } from './create-handlers.ts';

let directory: string;
let clock: ManualClock;
let opened: HandlerSet[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-handlers-'));
  clock = manualClock();
  opened = [];
});
afterEach(() => {
  for (const set of opened) set.dispose();
  rmSync(directory, { recursive: true, force: true });
});

const start = (overrides: Partial<HandlerDependencies> = {}) => {
  const set = createHandlers({
    dataDirectory: directory,
    clock,
    log: silentLog,
    version: '1.2.3',
    shell: 'browser',
    processes: () => [],
    openLoopProbe: () => ({ takeWorstMs: () => 0, dispose() {} }),
    ...overrides,
  });
  opened.push(set);
  return { ...set, ...fakeHost(set.handlers) };
};

/** Resolves with the items of a stream once there are `count`. */
const collect = <N extends StreamName>(
  client: ReturnType<typeof start>['client'],
  name: N,
  count: number,
  input?: InputOf<N>,
): { items: Promise<ItemOf<N>[]>; first: Promise<void>; dispose(): void } => {
  const items: ItemOf<N>[] = [];
  let onFirst: () => void;
  let dispose = (): void => undefined;
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  const all = new Promise<ItemOf<N>[]>((resolve, reject) => {
    const stream = client.open(name, input as InputOf<N>, {
      onBatch(batch) {
        items.push(...batch);
        onFirst();
        if (items.length >= count) resolve(items);
      },
      onEnd: (error) => reject(error ?? new Error('the stream ended early')),
    });
    dispose = () => stream.dispose();
  });
  return { items: all, first, dispose: () => dispose() };
};

const kubeconfig = (name: string): string => `
clusters: [{name: c, cluster: {server: "https://${name}.example:6443"}}]
contexts: [{name: ${name}, context: {cluster: c, user: u}}, {name: ${name}-2, context: {cluster: c, user: u}}]
`;

test('app.info tells the versions, the shell and the data folder', async () => {
  const { client } = start();
  expect(await client.call('app.info', undefined)).toMatchObject({
    version: '1.2.3',
    shell: 'browser',
    nodeVersion: process.versions.node,
    electronVersion: null,
    dataDirectory: directory,
    startedAtMs: clock.nowMs(),
  });
});

test('a setting written in one window reaches the others and the next start', async () => {
  const { client } = start();
  const watch = collect(client, 'settings.watch', 2);
  await watch.first;
  await client.call('settings.write', { theme: 'dark' });
  expect((await watch.items).map(({ theme }) => theme)).toEqual(['system', 'dark']);
  expect(await start().client.call('settings.read', undefined)).toMatchObject({
    theme: 'dark',
    locale: 'system',
  });
});

test('damaged settings become defaults and a notice that waits for the first console', async () => {
  writeFileSync(join(directory, 'settings.json'), '{"theme":');
  const { client } = start();
  const [notice] = await collect(client, 'notifications.watch', 1).items;
  expect(notice).toMatchObject({ severity: 'warn', atMs: clock.nowMs() });
  expect(notice?.detail?.values).toMatchObject({ keptAs: join(directory, 'settings.json.damaged-1') });
  expect((await client.call('settings.read', undefined)).theme).toBe('system');
});

test('an opened kubeconfig is listed, reported and remembered by path', async () => {
  const path = join(directory, 'a.conf');
  writeFileSync(path, kubeconfig('a'));
  const { client } = start();
  const watch = collect(client, 'clusters.watch', 2);
  await watch.first;
  await client.call('clusters.openKubeconfig', { path });
  expect((await watch.items).map(({ clusters }) => clusters.length)).toEqual([0, 2]);
  const later = await start().client.call('clusters.list', undefined);
  expect(later.clusters.map(({ id }) => id)).toEqual([`${path}#a`, `${path}#a-2`]);
});

test('one context can be forgotten, then the rest; opening the file again brings all back', async () => {
  const path = join(directory, 'a.conf');
  writeFileSync(path, kubeconfig('a'));
  const { client } = start();
  await client.call('clusters.openKubeconfig', { path });
  const names = (list: { clusters: { name: string }[] }): string[] => list.clusters.map(({ name }) => name);
  expect(names(await client.call('clusters.forget', { id: `${path}#a` }))).toEqual(['a-2']);
  expect(names(await client.call('clusters.forget', { id: `${path}#a-2` }))).toEqual([]);
  expect(await client.call('clusters.forget', { id: path }).catch((e: unknown) => e)).toMatchObject({
    reason: 'NotFound',
  });
  expect(names(await client.call('clusters.openKubeconfig', { path }))).toEqual(['a', 'a-2']);
});

test('a kubeconfig that cannot be understood stays as a problem until it is repaired', async () => {
  const path = join(directory, 'b.conf');
  writeFileSync(path, 'kind: Pod');
  const { client } = start();
  const broken = await client.call('clusters.openKubeconfig', { path });
  expect(broken.clusters).toEqual([]);
  expect(broken.problems.map((problem) => problem.path)).toEqual([path]);

  const watch = collect(client, 'clusters.watch', 2);
  await watch.first;
  await expect.poll(() => clock.pendingCount).toBe(1);
  writeFileSync(path, kubeconfig('b'));
  clock.advance(2000);
  expect((await watch.items).at(-1)).toMatchObject({
    clusters: [{ name: 'b' }, { name: 'b-2' }],
    problems: [],
  });
  watch.dispose();
});

test('a list is reported once: looking again at files that have not changed says nothing', async () => {
  const path = join(directory, 'a.conf');
  writeFileSync(path, kubeconfig('a'));
  const { client } = start();
  const seen: number[] = [];
  client.open('clusters.watch', undefined, {
    onBatch: (items) => seen.push(...items.map(({ clusters }) => clusters.length)),
    onEnd: () => undefined,
  });
  await expect.poll(() => clock.pendingCount).toBe(1);
  await client.call('clusters.openKubeconfig', { path });
  for (let look = 0; look < 3; look += 1) {
    clock.advance(2000);
    await expect.poll(() => clock.pendingCount).toBe(1);
  }
  expect(seen).toEqual([0, 2]);
});

test.each([
  [{ path: '/nowhere/at/all' }, 'NotFound'],
  [{ path: 'relative' }, 'BadRequest'],
  [{ path: tmpdir() }, 'BadRequest'],
  [{}, 'BadRequest'],
])('opening %j in a browser is refused as %s', async (input, reason) => {
  const { client } = start();
  expect(await client.call('clusters.openKubeconfig', input).catch((e: unknown) => e)).toMatchObject({
    reason,
  });
});

test('a dialog the user closes cancels the call', async () => {
  const { client } = start({ chooseKubeconfig: () => Promise.resolve(undefined) });
  expect(await client.call('clusters.openKubeconfig', {}).catch((e: unknown) => e)).toMatchObject({
    reason: 'Cancelled',
  });
});

test('links are opened only if they are plain https, and only where the host can', async () => {
  const links: string[] = [];
  const { client } = start({ openExternal: async (url) => void links.push(url) });
  await client.call('app.openExternal', { url: 'https://kubernetes.io/docs' });
  const refused: unknown = await client
    .call('app.openExternal', { url: 'https://kubernetes.io@evil.example/' })
    .catch((e: unknown) => e);
  const absent: unknown = await start()
    .client.call('app.openExternal', { url: 'https://kubernetes.io/' })
    .catch((e: unknown) => e);
  expect(links).toEqual(['https://kubernetes.io/docs']);
  expect([refused, absent]).toMatchObject([{ reason: 'BadRequest' }, { reason: 'Unimplemented' }]);
});

test('the last place a deep link asked for waits for the console', async () => {
  const { client, navigation } = start();
  navigation.go('/a');
  navigation.go('/b');
  expect(await collect(client, 'navigation.watch', 1).items).toEqual([{ path: '/b' }]);
});

test('closing the connection leaves nothing running', async () => {
  const { client, host, close } = start();
  await collect(client, 'app.vitals', 1, { everySeconds: 1 }).items;
  await collect(client, 'clusters.watch', 1).items;
  await expect.poll(() => clock.pendingCount).toBe(2);
  close();
  expect(host.openStreamCount).toBe(0);
  await expect.poll(() => clock.pendingCount).toBe(0);
});
