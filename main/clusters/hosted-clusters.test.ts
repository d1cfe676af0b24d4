import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toDisposable } from '../../core/base/disposable.ts';
import { silentLog } from '../../core/base/log.ts';
import { manualClock, type ManualClock } from '../../core/base/manual-clock.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { controlEndpoint } from '../../core/cluster/data-folder/control-endpoint.ts';
import { serveControl, type ControlHandlers } from '../../core/cluster/control/server.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';
import type { DataFolder } from '../../core/cluster/data-folder/open.ts';
import type { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import { openDataFolder } from '../../core/cluster/data-folder/open.ts';
import { type ClusterWishes, inEnglish, verbatim } from '../../core/contract/index.ts';
import type { Engine } from './engine.ts';
import { HostedClusters } from './hosted-clusters.ts';
import { ownClusters } from './own-clusters.ts';

/** Stands for the processes: becomes ready, fails or waits as it is told. */
class FakeSupervisor {
  readonly hosts = [];
  readonly folder: DataFolder;
  readonly outcome: Promise<void>;
  stops = 0;
  constructor(folder: DataFolder, outcome: Promise<void>) {
    this.folder = folder;
    this.outcome = outcome;
  }
  get config() {
    return this.folder.config;
  }
  start = (): Promise<void> => this.outcome;
  stop = (): Promise<void> => {
    this.stops += 1;
    return Promise.resolve();
  };
  onChange = () => toDisposable(() => undefined);
  state = (): ClusterState =>
    ({
      phase: 'ready',
      startedAtMs: 1,
      hosts: [],
      warnings: [],
      loadBalancer: undefined,
    }) as unknown as ClusterState;
}

let root: string;
let clock: ManualClock;
let opened: HostedClusters[];
let started: FakeSupervisor[];
let outcome: () => Promise<void>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pilothouse-hosted-'));
  clock = manualClock();
  opened = [];
  started = [];
  outcome = () => Promise.resolve();
});
afterEach(async () => {
  for (const clusters of opened) {
    await clusters.stopAll();
    clusters.dispose();
  }
  rmSync(root, { recursive: true, force: true });
});

const fakeEngine = (): Engine => ({
  open: (directory, wishes, name) => openDataFolder(directory, wishes, systemClock, name),
  assertStartable: () => Promise.resolve(),
  supervise(folder) {
    const supervisor = new FakeSupervisor(folder, outcome());
    started.push(supervisor);
    return supervisor as unknown as Supervisor;
  },
  serveCommands: () => Promise.resolve({ close: () => Promise.resolve() }),
  findNetwork: () => Promise.resolve(200),
});

const open = (): HostedClusters => {
  const clusters = new HostedClusters({
    dataDirectory: join(root, 'console'),
    clock,
    log: silentLog,
    onDamage: () => undefined,
    engine: () => Promise.resolve(fakeEngine()),
    lookCloser: () => toDisposable(() => undefined),
  });
  opened.push(clusters);
  return clusters;
};

const wishes = (changed: Partial<ClusterWishes> = {}): ClusterWishes => ({
  name: 'harbour',
  directory: null,
  topology: 'stacked',
  controlPlanes: 1,
  etcdMembers: 1,
  workers: 0,
  kubernetesVersion: 'v1.36.0',
  ...changed,
});

const phaseOf = (clusters: HostedClusters, id: string) => clusters.find(id)?.phase;
const reach = (clusters: HostedClusters, id: string, phase: string) =>
  expect.poll(() => phaseOf(clusters, id)).toBe(phase);

test('a new cluster is named, listed and started; stopped, it keeps its folder', async () => {
  const clusters = open();
  const id = await clusters.create(wishes());
  expect(clusters.list().map(({ name, directory }) => [name, directory])).toEqual([
    ['harbour', join(root, 'console/clusters/harbour')],
  ]);
  await reach(clusters, id, 'ready');
  await clusters.stop(id);
  await reach(clusters, id, 'stopped');
  expect([started[0]!.stops, existsSync(join(id, 'cluster.yaml'))]).toEqual([1, true]);
  expect(clusters.find(id)!.state()).toMatchObject({
    phase: 'stopped',
    hosts: [{ name: 'cp-1', phase: 'stopped', components: [] }],
    loadBalancer: null,
  });
});

test('a start that fails says why, gives the folder back, and can be tried again', async () => {
  const clusters = open();
  outcome = () => Promise.reject(new Error('etcd has no leader'));
  const id = await clusters.create(wishes());
  await reach(clusters, id, 'failed');
  expect(clusters.find(id)!.state()).toMatchObject({
    phase: 'failed',
    message: verbatim('etcd has no leader'),
  });
  outcome = () => Promise.resolve();
  await clusters.start(id);
  await reach(clusters, id, 'ready');
  expect(clusters.find(id)!.state().message).toBeNull();
});

test('a start can be cut off by a stop, and is then no failure', async () => {
  const clusters = open();
  outcome = () => new Promise(() => undefined);
  const id = await clusters.create(wishes());
  await reach(clusters, id, 'starting');
  await clusters.stop(id);
  await reach(clusters, id, 'stopped');
});

test('clusters that were running when the console quit are started by the next one, stopped ones are not', async () => {
  const first = open();
  const runs = await first.create(wishes());
  await reach(first, runs, 'ready');
  await first.stopAll();
  first.dispose();
  const second = open();
  expect(phaseOf(second, runs)).toBe('stopped');
  second.resume();
  await reach(second, runs, 'ready');
  await second.stop(runs);
  await reach(second, runs, 'stopped');
  second.dispose();
  const third = open();
  third.resume();
  expect(phaseOf(third, runs)).toBe('stopped');
});

test('the network of a cluster that is listed is not given to another', async () => {
  const clusters = open();
  await clusters.create(wishes());
  await expect(clusters.create(wishes({ name: 'quay' }))).rejects.toThrow('no free loopback network');
});

test('names, folders and contents that are taken are refused', async () => {
  const clusters = open();
  const id = await clusters.create(wishes());
  const other = join(root, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'letters.txt'), '');
  const refusal = (changed: Partial<ClusterWishes>) =>
    clusters.create(wishes(changed)).catch((error: unknown) => error);
  expect(await refusal({})).toMatchObject({ reason: 'Conflict' });
  expect(await refusal({ name: 'b', directory: id })).toMatchObject({ reason: 'Conflict' });
  expect(await refusal({ name: 'b', directory: other })).toMatchObject({ reason: 'BadRequest' });
  expect(await refusal({ name: 'b', directory: join(other, 'letters.txt') })).toMatchObject({
    reason: 'BadRequest',
  });
  expect(clusters.list()).toHaveLength(1);
});

test('a folder that another process holds fails the start with its name, and nothing is lost', async () => {
  const clusters = open();
  const id = await clusters.create(wishes());
  await reach(clusters, id, 'ready');
  await clusters.stop(id);
  await reach(clusters, id, 'stopped');
  const { lock } = await openDataFolder(id, {}, systemClock);
  await clusters.start(id);
  await reach(clusters, id, 'failed');
  expect(inEnglish(clusters.find(id)!.state().message!)).toMatch(
    /is in use by process \d+; stop that process first/,
  );
  lock.dispose();
  await clusters.start(id);
  await reach(clusters, id, 'ready');
});

test('a cluster that another process runs is shown as that process tells it', async () => {
  const clusters = open();
  const id = await clusters.create(wishes());
  await reach(clusters, id, 'ready');
  await clusters.stop(id);
  await reach(clusters, id, 'stopped');
  const elsewhere = new FakeSupervisor({ directory: id } as DataFolder, Promise.resolve());
  const handlers = { status: () => Promise.resolve(elsewhere.state()) } as unknown as ControlHandlers;
  const commands = await serveControl(controlEndpoint(id), handlers);
  const looking = clusters.lookElsewhere();
  try {
    clock.advance(0);
    await reach(clusters, id, 'ready');
    expect(inEnglish(clusters.find(id)!.state().message!)).toMatch(/^Another process hosts this cluster/);
    await expect(clusters.start(id)).rejects.toMatchObject({ reason: 'Conflict' });
    await expect(clusters.stop(id)).rejects.toMatchObject({ reason: 'Conflict' });
  } finally {
    await commands.close();
  }
  await expect.poll(() => clock.pendingCount).toBe(1);
  clock.advance(3_000);
  await reach(clusters, id, 'stopped');
  looking.dispose();
});

test('the kubeconfig of a folder brings in its cluster; another file is no one of ours', async () => {
  const maker = open();
  const id = await maker.create(wishes());
  await reach(maker, id, 'ready');
  await maker.stopAll();
  maker.dispose();
  rmSync(join(root, 'console', 'clusters.json'));
  const clusters = open();
  const own = ownClusters(clusters);
  expect(await own.attach(join(id, 'kubeconfig', 'scheduler.conf'))).toBe(false);
  expect(await own.attach(join(root, 'kubeconfig', 'admin.conf'))).toBe(false);
  expect(await own.attach(join(id, 'kubeconfig', 'admin.conf'))).toBe(true);
  expect(own.list().clusters).toMatchObject([{ id, origin: 'local', local: { phase: 'stopped' } }]);
  await own.attach(join(id, 'kubeconfig', 'admin.conf'));
  clusters.dispose();
  expect(open().list()).toHaveLength(1);
});

test('deleting removes the folder and forgets it; a folder that is gone is a problem until forgotten', async () => {
  const clusters = open();
  const id = await clusters.create(wishes());
  await clusters.delete(id);
  expect([existsSync(id), clusters.list(), clusters.problems]).toEqual([false, [], []]);
  const again = await clusters.create(wishes());
  await reach(clusters, again, 'ready');
  await clusters.stopAll();
  clusters.dispose();
  rmSync(again, { recursive: true });
  const later = open();
  expect(later.problems).toMatchObject([{ path: again }]);
  await later.forget(again);
  expect(later.problems).toEqual([]);
});
