import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import type { CriticalMetric, MetricsHealth } from '../../../contract/index.ts';
import { MemoryHistory } from '../history/history.ts';
import { Sampler, SAMPLE_INTERVAL_MS, type SampledTarget } from '../sampler.ts';
import { assessCritical } from './critical.ts';
import type { CriticalId, Figure } from './figures.ts';

/** A cluster whose pages are written by the test. */
const simulate = (pages: Record<string, string | Error>) => {
  const clock = manualClock();
  const histories = { raw: new MemoryHistory(100), minute: new MemoryHistory(100) };
  const sampler = new Sampler<SampledTarget>({
    targets: () =>
      Object.keys(pages).map((key) => {
        const [component, instance] = key.split('/') as [SampledTarget['component'], string];
        return { component, instance };
      }),
    scrape({ component, instance }) {
      const page = pages[`${component}/${instance}`]!;
      return typeof page === 'string' ? Promise.resolve([page]) : Promise.reject(page);
    },
    limits: () => Promise.resolve({ readOnly: 400, mutating: 200 }),
    peerName: (id) => id,
    histories,
    clock,
    log: silentLog,
  });
  let isStarted = false;
  const sample = async (): Promise<MetricsHealth> => {
    const next = new Promise<MetricsHealth>((resolve) => {
      const listening = sampler.onSample((health) => {
        listening.dispose();
        resolve(health);
      });
    });
    if (!isStarted) sampler.start();
    clock.advance(isStarted ? SAMPLE_INTERVAL_MS : 0);
    isStarted = true;
    const health = await next;
    // The next round is armed after the listeners are told.
    await Promise.resolve();
    await new Promise(setImmediate);
    return health;
  };
  return { clock, sampler, histories, sample };
};

const of = ({ critical }: MetricsHealth, id: CriticalId): CriticalMetric =>
  critical.find((one) => one.id === id)!;

const buckets = (name: string, counts: Readonly<Record<string, number>>, labels = ''): string =>
  Object.entries(counts)
    .map(([le, count]) => `${name}_bucket{${labels}le="${le}"} ${count}`)
    .join('\n');

const API = 'apiserver_request_duration_seconds';
const QUEUE = 'workqueue_queue_duration_seconds';

test.each<[CriticalId, string, readonly [string, string], Partial<CriticalMetric>]>([
  [
    'apiLatencyP99',
    'kube-apiserver/cp-1',
    [buckets(API, { '1': 0, '2': 0, '+Inf': 0 }), buckets(API, { '1': 50, '2': 100, '+Inf': 100 })],
    { value: 1.98, state: 'firing', subject: 'cp-1', chart: 'apiLatencyP99' },
  ],
  [
    'apiErrors',
    'kube-apiserver/cp-1',
    [
      'apiserver_request_total{code="200"} 100',
      'apiserver_request_total{code="200"} 195\napiserver_request_total{code="500"} 5',
    ],
    { value: 0.05, threshold: 0.01, state: 'firing', subject: 'cp-1' },
  ],
  [
    'etcdLatencyP99',
    'etcd/cp-2',
    [
      buckets('etcd_disk_wal_fsync_duration_seconds', { '0.1': 0, '0.2': 0, '+Inf': 0 }),
      buckets('etcd_disk_wal_fsync_duration_seconds', { '0.1': 10, '0.2': 10, '+Inf': 10 }),
    ],
    { value: 0.099, state: 'ok', subject: 'cp-2', chart: 'etcdFsyncP99' },
  ],
  [
    'etcdLeaderChanges',
    'etcd/cp-2',
    ['etcd_server_leader_changes_seen_total 1', 'etcd_server_leader_changes_seen_total 2'],
    { value: 1, threshold: 0, state: 'firing' },
  ],
  [
    'etcdDbSize',
    'etcd/cp-2',
    ['', 'etcd_mvcc_db_total_size_in_bytes 900\netcd_server_quota_backend_bytes 1000'],
    { value: 900, threshold: 800, state: 'firing' },
  ],
  [
    'unschedulablePods',
    'kube-scheduler/cp-3',
    ['', 'scheduler_pending_pods{queue="unschedulable"} 1\nscheduler_pending_pods{queue="active"} 49'],
    { value: 1, state: 'firing', subject: 'cp-3' },
  ],
  [
    'pendingPods',
    'kube-scheduler/cp-3',
    ['', 'scheduler_pending_pods{queue="unschedulable"} 1\nscheduler_pending_pods{queue="active"} 49'],
    { value: 50, threshold: 50, state: 'ok' },
  ],
  [
    'queueDepth',
    'kube-controller-manager/cp-1',
    ['', 'workqueue_depth{name="job"} 101\nworkqueue_depth{name="deployment"} 3'],
    { value: 101, state: 'firing', subject: 'job', chart: 'queueDepth' },
  ],
  [
    'queueTimeP99',
    'kube-controller-manager/cp-1',
    [
      buckets(QUEUE, { '1': 0, '10': 0, '+Inf': 0 }, 'name="job",'),
      buckets(QUEUE, { '1': 0, '10': 100, '+Inf': 100 }, 'name="job",'),
    ],
    { value: 9.91, state: 'firing', subject: 'job' },
  ],
  [
    'apiInFlight',
    'kube-apiserver/cp-1',
    [
      '',
      'apiserver_current_inflight_requests{request_kind="mutating"} 170\napiserver_current_inflight_requests{request_kind="readOnly"} 300',
    ],
    { value: 0.85, threshold: 0.8, state: 'firing', subject: 'cp-1 mutating' },
  ],
  [
    'repeatedFailures',
    'kube-apiserver/cp-1',
    [
      'pilothouse_apiserver_repeated_failures_total{user="system:node:cp-2"} 1',
      'pilothouse_apiserver_repeated_failures_total{user="system:node:cp-2"} 4',
    ],
    { value: 3, threshold: 0, state: 'firing', subject: 'system:node:cp-2' },
  ],
])('%s is the value of the worst instance', async (id, target, [before, after], expected) => {
  const pages: Record<string, string> = { [target]: before };
  const { sample, sampler } = simulate(pages);
  await sample();
  pages[target] = after;
  const found = of(await sample(), id);
  sampler.dispose();
  expect(found).toMatchObject({ ...expected, value: expect.closeTo(expected.value!, 6) as number });
});

test('metrics without samples are unknown, and a target that is down says why', async () => {
  const { sample, sampler } = simulate({ 'etcd/cp-1': new Error('connect ECONNREFUSED') });
  const health = await sample();
  sampler.dispose();
  expect(new Set(health.critical.map(({ state }) => state))).toEqual(new Set(['unknown']));
  expect(health.targets).toEqual([
    { component: 'etcd', instance: 'cp-1', isUp: false, lastAtMs: null, message: 'connect ECONNREFUSED' },
  ]);
});

test('a firing metric keeps its start time until it recovers', () => {
  const figures = (value: number): ReadonlyMap<CriticalId, Figure> =>
    new Map([['queueDepth', { value, threshold: 100, subject: 'job', chart: 'queueDepth' }]]);
  const at = (before: readonly CriticalMetric[], value: number, nowMs: number): CriticalMetric[] =>
    assessCritical(before, figures(value), nowMs);
  const first = at([], 101, 1_000);
  const second = at(first, 500, 2_000);
  const third = at(second, 100, 3_000);
  const fourth = at(third, 102, 4_000);
  const sinces = [first, second, third, fourth].map(
    (all) => all.find(({ id }) => id === 'queueDepth')!.sinceMs,
  );
  expect(sinces).toEqual([1_000, 1_000, null, 4_000]);
});

test('the leader that a member finds after its start is no change', async () => {
  const page = (changes: number): string => `etcd_server_leader_changes_seen_total ${changes}`;
  const pages: Record<string, string> = { 'etcd/cp-1': page(0), 'etcd/cp-2': page(4) };
  const { sample, sampler } = simulate(pages);
  await sample();
  Object.assign(pages, { 'etcd/cp-1': page(1), 'etcd/cp-2': page(1) });
  const found = of(await sample(), 'etcdLeaderChanges');
  pages['etcd/cp-1'] = page(2);
  const changed = of(await sample(), 'etcdLeaderChanges');
  sampler.dispose();
  expect([found.state, changed.state]).toEqual(['ok', 'firing']);
});

test('leader changes are forgotten after five minutes, and an old latency after one', async () => {
  const page = (changes: number, observed: number): string =>
    `etcd_server_leader_changes_seen_total ${changes}\n${buckets('etcd_disk_wal_fsync_duration_seconds', { '1': observed, '+Inf': observed })}`;
  const pages: Record<string, string> = { 'etcd/cp-1': page(1, 0) };
  const { sample, sampler } = simulate(pages);
  await sample();
  pages['etcd/cp-1'] = page(2, 10);
  const states: Record<number, readonly string[]> = {};
  for (let round = 1; round <= 62; round += 1) {
    const health = await sample();
    if ([1, 11, 14, 59, 62].includes(round))
      states[round] = [of(health, 'etcdLeaderChanges').state, of(health, 'etcdLatencyP99').state];
  }
  sampler.dispose();
  expect(states).toEqual({
    1: ['firing', 'firing'],
    11: ['firing', 'firing'],
    14: ['firing', 'unknown'],
    59: ['firing', 'unknown'],
    62: ['ok', 'unknown'],
  });
});

test('every sample is recorded, and a minute once with the quantile of its own observations', async () => {
  const pages: Record<string, string> = {};
  const at = (fast: number, slow: number): void => {
    pages['kube-apiserver/cp-1'] = buckets(API, { '1': fast, '10': fast + slow, '+Inf': fast + slow });
  };
  at(0, 0);
  const { sample, sampler, histories } = simulate(pages);
  await sample();
  for (let round = 1; round <= 12; round += 1) {
    // A hundred slow ones, all in the first five seconds of twelve.
    at(round * 1000, 100);
    await sample();
  }
  sampler.dispose();
  const span = { fromMs: 0, toMs: Infinity };
  const raw = await histories.raw.read(span);
  const minute = await histories.minute.read(span);
  expect([raw.length, minute.length]).toEqual([12, 1]);
  const worst = Math.max(...raw.flatMap(({ points }) => points.map(({ value }) => value)));
  expect(worst).toBeGreaterThan(5);
  expect(minute[0]!.points).toEqual([
    { chart: 'apiLatencyP99', series: 'cp-1', value: expect.closeTo(0.998, 3) as number },
  ]);
});
