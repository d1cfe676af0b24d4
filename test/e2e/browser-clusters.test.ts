import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClusterAction, ClusterWishes } from '../../core/contract/index.ts';
import { launchChromium, visit, type Visit } from '../support/chromium.ts';
import { pilothouse } from '../support/cluster.ts';
import { actAndWait, contractOf, untilPhase, type PageContract } from '../support/page-contract.ts';
import { startTestServing, type TestServing } from '../support/serving.ts';
import { until } from '../support/until.ts';

const PAGES = fileURLToPath(new URL('../../dist/renderer', import.meta.url));
const HOST_PROGRAM = new URL('../../dist/host/host.js', import.meta.url);

let browser: Browser;
let serving: TestServing;
let visited: Visit;
let contract: PageContract;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  serving = await startTestServing({ pagesDirectory: PAGES, hostProgram: HOST_PROGRAM });
  visited = await visit(browser, serving.mintUrl());
  contract = await contractOf(visited.page);
});
afterEach(async () => {
  await visited.close();
  await serving.close();
});

const small = async (wishes: Partial<ClusterWishes> = {}): Promise<ClusterWishes> => ({
  ...(await contract.call('clusters.defaults', undefined)).wishes,
  controlPlanes: 1,
  workers: 1,
  ...wishes,
});

/** By the kubeconfig of its folder, as one that `pilothouse up` runs is opened. */
const operateFromAnotherConsole = async (cluster: string): Promise<void> => {
  const other = await startTestServing({ pagesDirectory: PAGES, hostProgram: HOST_PROGRAM });
  const seen = await visit(browser, other.mintUrl());
  try {
    const there = await contractOf(seen.page);
    const path = join(cluster, 'kubeconfig', 'admin.conf');
    expect((await there.call('clusters.openKubeconfig', { path })).clusters).toMatchObject([
      { id: cluster, origin: 'local', readOnly: false },
    ]);
    const state = await there.follow('cluster.state', { cluster });
    expect(await untilPhase(state, 'ready')).toMatchObject({
      message: { code: 'state.elsewhere' },
    });
    await until('leaders there', async () => {
      const [controlPlane] = (await state()).hosts;
      return controlPlane!.components.filter(({ isLeader }) => isLeader).length === 4;
    });
    const members = await there.follow('etcd.members', { cluster });
    await until('members there', async () => (await members()).members[0]?.role === 'leader');

    const restart: ClusterAction = { kind: 'host.restart', host: 'workers' };
    expect(await there.call('cluster.preview', { cluster, action: restart })).toMatchObject({
      verdict: 'safe',
    });
    const operations = await there.follow('cluster.operations', { cluster });
    expect(await actAndWait(there, { cluster, action: restart }, operations)).toMatchObject({
      state: 'done',
    });
    expect(await actAndWait(there, { cluster, action: { kind: 'snapshot.save' } }, operations)).toMatchObject(
      {
        state: 'done',
      },
    );
    const backups = await there.follow('backups.watch', { cluster });
    const { file } = await until('the snapshot there', async () => (await backups()).files[0]);
    await actAndWait(there, { cluster, action: { kind: 'snapshot.delete', file } }, operations);
    await expect(there.call('clusters.stop', { cluster })).rejects.toThrow(
      /^Conflict: another process hosts/,
    );
  } finally {
    await seen.close();
    await other.close();
  }
};

/** Half a minute alone; several when other suites run beside it. */
const LIFE_LIMIT_MS = 600_000;

test(
  'a cluster is created, broken, repaired, saved, stopped, restarted and deleted',
  async () => {
    const { cluster } = await contract.call('clusters.create', await small({ name: 'harbour' }));
    const state = await contract.follow('cluster.state', { cluster });
    const operations = await contract.follow('cluster.operations', { cluster });
    const backups = await contract.follow('backups.watch', { cluster });
    const act = (action: ClusterAction) => actAndWait(contract, { cluster, action }, operations);
    await untilPhase(state, 'ready');
    expect((await contract.call('clusters.list', undefined)).clusters).toMatchObject([
      { id: cluster, name: 'harbour', origin: 'local', readOnly: false, local: { phase: 'ready' } },
    ]);
    const leading = await until('a leader of everything', async () => {
      const [controlPlane] = (await state()).hosts;
      const names = controlPlane!.components.filter(({ isLeader }) => isLeader).map(({ name }) => name);
      return names.length === 4 ? names.sort() : undefined;
    });
    expect(leading).toEqual([
      'cloud-controller-manager',
      'etcd',
      'kube-controller-manager',
      'kube-scheduler',
    ]);

    await operateFromAnotherConsole(cluster);

    const kill: ClusterAction = { kind: 'host.kill', host: 'cp-1' };
    expect(await contract.call('cluster.preview', { cluster, action: kill })).toMatchObject({
      verdict: 'outage',
      quorum: { voters: 1, healthyNow: 1, healthyAfter: 0 },
    });
    expect(await act(kill)).toMatchObject({
      state: 'done',
      command: `pilothouse host kill cp-1 --data ${cluster}`,
    });
    await until('the end of the host', async () => (await state()).hosts[0]?.phase === 'killed');
    const starting = act({ kind: 'host.start', host: 'cp-1' });
    const refused = act({ kind: 'host.kill', host: 'workers' });
    await expect(refused).rejects.toThrow(/^Conflict: "pilothouse host start cp-1 .*" is in progress/);
    expect(await starting).toMatchObject({ state: 'done', steps: [{ state: 'done' }, { state: 'done' }] });

    expect(await act({ kind: 'snapshot.save' })).toMatchObject({ state: 'done' });
    const { files } = await until('the snapshot', async () => {
      const now = await backups();
      return now.files.length === 1 ? now : undefined;
    });
    expect(files).toMatchObject([{ problem: null, isScheduled: false }]);
    const compared = await contract.call('backups.compare', { cluster, file: files[0]!.file });
    expect(compared.rows.find(({ resource }) => resource === 'namespaces')).toMatchObject({
      now: 4,
      inSnapshot: 4,
    });

    await contract.call('clusters.stop', { cluster });
    await untilPhase(state, 'stopped');
    await contract.call('clusters.start', { cluster });
    await untilPhase(state, 'ready');
    const nodes = await contract.call('kube.request', { cluster, method: 'GET', path: '/api/v1/nodes' });
    expect(nodes.ok).toBe(true);
    expect((await pilothouse('host', 'kill', 'workers', '--data', cluster)).stdout).toBe('workers killed\n');

    expect(await contract.call('clusters.delete', { cluster })).toEqual({ clusters: [], problems: [] });
    expect(existsSync(cluster)).toBe(false);
  },
  LIFE_LIMIT_MS,
);

test('a cluster that cannot be created is refused with a reason, and no files remain', async () => {
  const full = join(serving.dataDirectory, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'letters.txt'), 'dear');
  const create = async (wishes: Partial<ClusterWishes>) =>
    contract.call('clusters.create', await small(wishes));
  await expect(create({ directory: full })).rejects.toThrow(/BadRequest: .* is not empty; choose/);
  await expect(create({ directory: 'harbour' })).rejects.toThrow(/BadRequest: .* is not a full path/);
  await expect(create({ name: '../../etc' })).rejects.toThrow(/BadRequest/);
  await expect(create({ kubernetesVersion: 'v1.20.0' })).rejects.toThrow(/BadRequest: .* must be v1.34.P/);
  await expect(create({ topology: 'external', etcdMembers: 0 })).rejects.toThrow(/BadRequest: .*etcdMembers/);
  expect(await contract.call('clusters.list', undefined)).toEqual({ clusters: [], problems: [] });
});
