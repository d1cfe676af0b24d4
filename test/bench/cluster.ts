import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminClient, up, type RunningCluster } from '../support/cluster.ts';
import { handOver, leaderKilled, type Departure } from './cluster/failover.ts';
import { treeUsage } from './cluster/processes.ts';
import { printLoad, printRow } from './cluster/report.ts';

/**
 * The default cluster (three control planes, two workers) as a user starts it. Wall times are of a quiet machine of two
 * cores; processor seconds say what a start costs whatever else runs.
 *
 * npm run bench -- cluster [start] [failover]; without an argument both.
 */
const SETTLE_MS = 20_000;
/** Until then twenty threads still compile what they have run since the start. */
const AT_REST_AFTER_MS = 60_000;
const IDLE_MS = 30_000;
const ROUNDS = 3;
const HAND_OVERS: readonly (readonly [string, Departure])[] = [
  ['kube-scheduler', 'stop'],
  ['kube-scheduler', 'kill host'],
  ['kube-controller-manager', 'stop'],
  ['kube-controller-manager', 'kill host'],
];
const GOALS = {
  startSeconds: 5,
  rssMib: 700,
  idlePercent: 10,
  leaderKilledMs: 3_000,
  gracefulMs: 1_000,
  hardMs: 20_000,
} as const;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const timedUp = async (name: string, data: string): Promise<RunningCluster> => {
  const startedMs = performance.now();
  const cluster = await up('--data', data);
  const seconds = (performance.now() - startedMs) / 1000;
  const { cpuSeconds } = treeUsage(cluster.pid);
  const said = /^ready in ([\d.]+) s/m.exec(cluster.stdout)?.[1] ?? '?';
  printRow({
    name,
    value: seconds,
    unit: 's',
    goal: GOALS.startSeconds,
    note: `up says ${said} s; ${cpuSeconds.toFixed(1)} s of processor time`,
  });
  return cluster;
};

const measureRest = async (cluster: RunningCluster): Promise<void> => {
  const fresh = treeUsage(cluster.pid);
  printRow({
    name: `RSS when ready, sum of ${fresh.processes} processes`,
    value: fresh.rssMib,
    unit: 'MiB',
    note: `PSS ${fresh.pssMib.toFixed(0)} MiB`,
  });
  await sleep(SETTLE_MS);
  const settled = treeUsage(cluster.pid);
  printRow({
    name: `RSS ${SETTLE_MS / 1000} s later`,
    value: settled.rssMib,
    unit: 'MiB',
    goal: GOALS.rssMib,
    note: `PSS ${settled.pssMib.toFixed(0)} MiB`,
  });
  await sleep(AT_REST_AFTER_MS - SETTLE_MS);
  const before = treeUsage(cluster.pid);
  const fromMs = performance.now();
  await sleep(IDLE_MS);
  const after = treeUsage(cluster.pid);
  printRow({
    name: `processor use at rest, ${IDLE_MS / 1000} s after a minute`,
    value: ((after.cpuSeconds - before.cpuSeconds) * 1e5) / (performance.now() - fromMs),
    unit: '% of a core',
    goal: GOALS.idlePercent,
  });
};

const measureFailover = async (data: string): Promise<void> => {
  const client = await adminClient(data);
  try {
    const killed: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) killed.push(await leaderKilled(data, client, round));
    printRow({
      name: 'host of the etcd leader killed, to the next write',
      value: median(killed),
      unit: 'ms',
      goal: GOALS.leaderKilledMs,
      note: `of ${killed.map((ms) => ms.toFixed(0)).join(', ')}`,
    });
    for (const [component, departure] of HAND_OVERS)
      printRow({
        name: `${component}: ${departure}, to the next leader`,
        value: await handOver(data, client, component, departure),
        unit: 'ms',
        goal: departure === 'stop' ? GOALS.gracefulMs : GOALS.hardMs,
      });
  } finally {
    client.dispose();
  }
};

export const run = async (args: readonly string[]): Promise<void> => {
  const wants = (part: string): boolean => args.length === 0 || args.includes(part);
  const data = mkdtempSync(join(tmpdir(), 'pilothouse-bench-cluster-'));
  printLoad();
  let cluster: RunningCluster | undefined;
  try {
    cluster = await timedUp('cold start to every node Ready', data);
    if (wants('start')) {
      await measureRest(cluster);
      const stoppingMs = performance.now();
      await cluster.end('SIGTERM');
      printRow({ name: 'orderly stop', value: (performance.now() - stoppingMs) / 1000, unit: 's' });
      cluster = await timedUp('restart on the same data folder', data);
    }
    if (wants('failover')) await measureFailover(data);
  } finally {
    await cluster?.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  }
};
