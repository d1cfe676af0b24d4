import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { say, type LocalClusterState } from '../../core/contract/index.ts';
import { launchDesktop, openDesk, type Desk, type Desktop } from '../support/electron.ts';
import { actAndWait, contractOf, untilPhase } from '../support/page-contract.ts';
import { until } from '../support/until.ts';

let desk: Desk;
let desktop: Desktop | undefined;

beforeAll(async () => {
  desk = await openDesk();
});
afterEach(async () => {
  await desktop?.close().catch(() => undefined);
  desktop = undefined;
});
afterAll(() => desk?.close());

const launch = async (): Promise<Desktop> => {
  desktop = await launchDesktop(desk);
  return desktop;
};

const hostPids = ({ hosts }: LocalClusterState): number[] =>
  hosts.flatMap(({ pid }) => (pid === null ? [] : [pid]));

/** Not a zombie either: what init has not collected yet runs nothing. */
const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
};

/** Every process that names the data folder of this test, no matter who its parent is. */
const processesOfDesk = (): string[] =>
  readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || !isAlive(Number(entry))) return [];
    try {
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return command.includes(desk.dataDirectory) ? [command] : [];
    } catch {
      return []; // ended between listing and reading
    }
  });

/** Half a minute alone; several when other suites run beside it. */
const LIFE_LIMIT_MS = 600_000;

const WISHES = {
  name: 'desk',
  directory: null,
  topology: 'stacked',
  controlPlanes: 1,
  etcdMembers: 1,
  workers: 1,
  kubernetesVersion: 'v1.36.0',
} as const;

test(
  'a cluster runs in utility processes, is killed and started, and ends with the app',
  async () => {
    const { page, app } = await launch();
    const contract = await contractOf(page);
    const { cluster } = await contract.call('clusters.create', WISHES);
    const state = await contract.follow('cluster.state', { cluster });
    const operations = await contract.follow('cluster.operations', { cluster });
    const ready = await untilPhase(state, 'ready');
    expect(ready.hosts.map(({ name, phase }) => [name, phase])).toEqual([
      ['cp-1', 'running'],
      ['workers', 'running'],
    ]);
    const metrics = await app.evaluate(({ app: electron }) =>
      electron.getAppMetrics().map(({ pid, type }) => [pid, type] as const),
    );
    for (const pid of hostPids(ready)) expect(metrics).toContainEqual([pid, 'Utility']);

    const act = (kind: 'host.kill' | 'host.pause' | 'host.resume' | 'host.start') =>
      actAndWait(contract, { cluster, action: { kind, host: 'workers' } }, operations);
    const workers = async () => (await state()).hosts.find(({ name }) => name === 'workers')!;
    const untilWorkers = (phase: string) => until(phase, async () => (await workers()).phase === phase);

    const { pid } = await workers();
    await act('host.pause');
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /);
    await act('host.resume');
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).not.toMatch(/\) T /);
    expect(await act('host.kill')).toMatchObject({ state: 'done' });
    await untilWorkers('killed');
    expect(isAlive(pid!)).toBe(false);
    expect(await act('host.start')).toMatchObject({ state: 'done' });
    const { pid: crashed } = await workers();
    process.kill(crashed!, 'SIGKILL');
    await until('its restart', async () => {
      const { pid: now, phase } = await workers();
      return phase === 'running' && now !== crashed;
    });
    expect(await workers()).toMatchObject({
      restarts: 1,
      lastExit: { reason: say('exit.signal', { signal: 'SIGKILL' }) },
    });

    const pids = hostPids(await state());
    await desktop!.close();
    desktop = undefined;
    expect(pids.filter(isAlive)).toEqual([]);
    await until('no process of the app', () => processesOfDesk().length === 0);
    const members = join(cluster, 'hosts/cp-1/etcd');
    expect(existsSync(members)).toBe(true);
  },
  LIFE_LIMIT_MS,
);

test(
  'an app that is killed leaves no host behind, and the next start runs the cluster again',
  async () => {
    const first = await launch();
    const contract = await contractOf(first.page);
    const [entry] = (await contract.call('clusters.list', undefined)).clusters;
    const cluster = entry!.id;
    const ready = await untilPhase(await contract.follow('cluster.state', { cluster }), 'ready');
    const closed = first.app.waitForEvent('close');
    first.app.process().kill('SIGKILL');
    await closed;
    desktop = undefined;
    await until('the end of every host', () => hostPids(ready).every((pid) => !isAlive(pid)));

    const second = await launch();
    const again = await contractOf(second.page);
    await untilPhase(await again.follow('cluster.state', { cluster }), 'ready');
    expect(await again.call('clusters.delete', { cluster })).toMatchObject({ clusters: [] });
    expect(existsSync(cluster)).toBe(false);
  },
  LIFE_LIMIT_MS,
);
