import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { DEPLOYMENT, POD } from '../../core/client/index.ts';
import { CHECKLIST } from '../../core/cluster/checks/checklist.ts';
import { forkLauncher } from '../../core/cluster/supervisor/host-launcher.ts';
import { openDataFolder } from '../../core/cluster/data-folder/open.ts';
import { resumeMembership } from '../../core/cluster/membership/resume.ts';
import { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import {
  CHARTS,
  contract,
  type ChartId,
  type EtcdEvent,
  type EtcdView,
  type InputOf,
  type ItemOf,
  type LeasesView,
  type MetricsHealth,
  type StreamName,
} from '../../core/contract/index.ts';
import type { PrintedFinding } from '../../main/cli/commands/findings.ts';
import type { LocalCluster } from '../../main/clusters/local-clusters.ts';
import { createMonitorHandlers } from '../../main/monitor/index.ts';
import { pilothouse } from '../support/cluster.ts';
import { until } from '../support/until.ts';

const NETWORK = 240;
const DIST = process.env['PILOTHOUSE_DIST'] ?? join(process.cwd(), 'dist');
const SAMPLES_LIMIT_MS = 60_000;

let data: string;
let supervisor: Supervisor;
let monitor: ReturnType<typeof createMonitorHandlers>;
const signal = new AbortController();

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'pilothouse-monitor-'));
  const program = pathToFileURL(join(DIST, 'host/host.js'));
  // Members on hosts of their own: three of them cost little without three API servers.
  const wishes = {
    topology: 'external',
    controlPlanes: 1,
    etcdMembers: 3,
    workers: 1,
    network: NETWORK,
  } as const;
  const folder = await openDataFolder(data, wishes, systemClock);
  supervisor = new Supervisor({
    folder,
    program,
    launch: forkLauncher(program),
    clock: systemClock,
    log: silentLog,
    resumeMembership,
  });
  const nothing = { dispose: () => undefined };
  const cluster = {
    directory: data,
    config: folder.config,
    supervisor,
    state: () => ({ phase: supervisor.state().phase }),
    onChange: () => nothing,
  } as unknown as LocalCluster;
  const changed = new Set<() => void>();
  monitor = createMonitorHandlers({
    clock: systemClock,
    log: silentLog,
    connect: () => Promise.resolve({ client: supervisor.client! }),
    localClusters: {
      find: (id) => (id === data ? cluster : undefined),
      list: () => [cluster],
      onChange(listener) {
        changed.add(listener);
        return { dispose: () => void changed.delete(listener) };
      },
    },
  });
  await supervisor.start();
  for (const tell of changed) tell();
});

afterAll(async () => {
  signal.abort();
  monitor.dispose();
  await supervisor.stop();
  supervisor.folder.lock.dispose();
  await rm(data, { recursive: true, force: true });
});

/** Items of a stream, each checked against the contract, until one is as wanted. */
const firstOf = async <N extends StreamName>(
  name: N,
  cluster: string,
  isWanted: (item: ItemOf<N>) => boolean,
): Promise<ItemOf<N>> => {
  const open = monitor.handlers[name] as (
    input: InputOf<N>,
    signal: AbortSignal,
  ) => AsyncIterable<readonly ItemOf<N>[]>;
  for await (const batch of open({ cluster } as InputOf<N>, signal.signal))
    for (const item of batch) {
      v.assert(contract[name].item as v.GenericSchema, item);
      if (isWanted(item)) return item;
    }
  throw new Error(`${name} ended`);
};

test('members, leases, metrics, requests, scheduling and certificates of a running cluster are reported', async () => {
  const view: EtcdView = await firstOf('etcd.members', data, ({ members }) =>
    members.every(({ fsyncP99Ms, peerRoundTripMs, role }) =>
      role === 'leader' ? fsyncP99Ms !== null : peerRoundTripMs !== null && peerRoundTripMs > 0,
    ),
  );
  expect(view.members.map(({ name, role }) => [name, role === 'unreachable'])).toEqual([
    ['etcd-1', false],
    ['etcd-2', false],
    ['etcd-3', false],
  ]);
  expect(view.members.filter(({ role }) => role === 'leader').length).toBe(1);

  const leases: LeasesView = await firstOf('leases.watch', data, ({ leases: all }) =>
    all.some(({ name, renewGapsSeconds }) => name === 'kube-scheduler' && renewGapsSeconds.length > 0),
  );
  expect(new Set(leases.leases.map(({ kind }) => kind))).toEqual(new Set(['election', 'server', 'node']));
  const remote = await firstOf('leases.watch', 'another', () => true);
  expect(remote.leases.length).toBe(leases.leases.length);

  await supervisor.client!.resource(POD, 'default').create({
    metadata: { name: 'watched', namespace: 'default' },
    spec: { containers: [{ name: 'a', image: 'pause' }] },
  });
  const labels = { app: 'queued' };
  await supervisor.client!.resource(DEPLOYMENT, 'default').create({
    metadata: { name: 'queued', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'pause' }] } },
    },
  });
  const health: MetricsHealth = await firstOf(
    'metrics.health',
    data,
    ({ critical, targets }) =>
      critical.every(({ state }) => state !== 'unknown') && targets.every(({ isUp }) => isUp),
  );
  expect(health.targets.map(({ component }) => component).sort()).toEqual([
    'cloud-controller-manager',
    ...['etcd', 'etcd', 'etcd'],
    ...['kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kube-scheduler'],
    ...['kubelet', 'kubelet'],
  ]);

  const charts = Object.keys(CHARTS) as ChartId[];
  const empty = async (): Promise<ChartId[]> => {
    const toMs = Date.now();
    const query = { cluster: data, charts, fromMs: toMs - SAMPLES_LIMIT_MS, toMs, points: 30 };
    const answer = await monitor.handlers['metrics.query']!(query, signal.signal);
    v.assert(contract['metrics.query'].output as v.GenericSchema, answer);
    return answer.charts.filter(({ series }) => series.length === 0).map(({ chart }) => chart);
  };
  await until('a line in every chart', async () => (await empty()).length === 0, SAMPLES_LIMIT_MS).catch(
    async () => expect(await empty()).toEqual([]),
  );
  expect((await readdir(join(data, 'metrics'))).some((name) => /^raw-\d+\.seg$/.test(name))).toBe(true);

  const requests = await monitor.handlers['xray.requests']!(
    { cluster: data, filter: '/pods', auditId: null },
    signal.signal,
  );
  expect(requests.some(({ path, verb }) => path.endsWith('/default/pods') && verb === 'create')).toBe(true);
  const attempt = await until('an attempt of the scheduler', async () => {
    const input = { cluster: data, namespace: 'default', pod: 'watched' };
    return (await monitor.handlers['xray.scheduling']!(input, signal.signal))[0];
  });
  expect(attempt).toMatchObject({ pod: 'default/watched', nodes: 2 });
  const pod = 'spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 9k}}}]}';
  const whatIf = await until('a scheduler that leads', () =>
    monitor.handlers['xray.whatIf']!({ cluster: data, pod }, signal.signal),
  );
  expect([whatIf.node, whatIf.rows.find(({ node }) => node === 'worker-1')?.refusedBy]).toEqual([
    '',
    'NodeResourcesFit',
  ]);

  const certificates = await monitor.handlers['certificates.list']!({ cluster: data }, signal.signal);
  const served = certificates.filter((one) => one.served !== null);
  expect(served.map(({ name }) => name)).toContain('hosts/etcd-2/etcd/peer');
  expect(served.every((one) => one.served!.serial === one.serial)).toBe(true);
});

test('the checklist measures every item, and the command line prints them', async () => {
  const { stdout } = await pilothouse('check', '--data', data, '-o', 'json');
  const findings = JSON.parse(stdout) as PrintedFinding[];
  const verdicts = Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));
  expect(findings.filter(({ message }) => message.startsWith('check failed to run'))).toEqual([]);
  expect(findings.length).toBe(CHECKLIST.length);
  expect(verdicts).toMatchObject({
    etcdMembers: 'ok',
    apiReplicas: 'problem',
    certificateRotation: 'ok',
    backups: 'problem',
    nodeAndRbac: 'ok',
    noInsecurePort: 'ok',
    noExposure: 'ok',
    profilingOff: 'ok',
    peerCertificates: 'ok',
    controlPlaneTaints: 'ok',
    monitoring: 'ok',
  });
  const table = await pilothouse('check', '--data', data);
  expect([table.code, table.stdout]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^${CHECKLIST.length} checks: \\d+ passed, `, 'm')),
  ]);
  const certs = await pilothouse('certs', 'check-expiration', '--data', data);
  expect(certs.stdout).toMatch(/^hosts\/cp-1\/apiserver .* 364d 127\.240\.0\.1:6443 +kubernetes$/m);
});

test('the death of the leader is in the timeline, with the time that the election took', async () => {
  const before = await firstOf('etcd.members', data, ({ members }) =>
    members.some(({ role }) => role === 'leader'),
  );
  const leader = before.members.find(({ role }) => role === 'leader')!;
  const follower = before.members.find(({ name }) => name !== leader.name)!;
  // Without a quorum no one leads until it was seen: an election alone may come and go between two looks.
  await supervisor.commands.kill(follower.host);
  const killedAtMs = Date.now();
  await supervisor.commands.kill(leader.host);
  await firstOf('etcd.timeline', data, (events) =>
    events.some(({ atMs, kind }) => atMs >= killedAtMs && kind === 'leaderLost'),
  );
  await supervisor.commands.start(follower.host);
  const elected = ({ atMs, kind, member, durationMs }: EtcdEvent): boolean =>
    atMs >= killedAtMs && kind === 'leader' && member !== leader.name && durationMs !== null;
  const timeline = await firstOf('etcd.timeline', data, (events) => events.some(elected));
  // A machine that is short of time may lose the others for a moment too.
  const ofLeader = timeline.filter(({ atMs, member }) => atMs >= killedAtMs && member === leader.name);
  expect(ofLeader.map(({ kind }) => kind)).toEqual(['memberDown', 'leaderLost']);
  expect(timeline.find(elected)!.durationMs).toBeGreaterThan(0);
  const view = await firstOf('etcd.members', data, ({ members }) =>
    members.some(({ role, name }) => role === 'leader' && name !== leader.name),
  );
  expect(view.members.find(({ name }) => name === leader.name)?.role).toBe('unreachable');
});
