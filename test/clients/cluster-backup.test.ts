import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONFIG_MAP, POD, type Client } from '../../core/client/index.ts';
import type { SnapshotComparison } from '../../core/contract/schemas/operations.ts';
import { pilothouse } from '../support/cluster.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';
import { etcdctl, startRealEtcd } from './real-etcd.ts';

/** A machine that does much else at the same time needs longer for a whole rehearsal. */
const TEST_LIMIT_MS = 400_000;

let cluster: OperatedCluster;
let client: Client;

beforeAll(async () => {
  cluster = await operate(
    ...['--network', '226', '--control-planes', '1', '--workers', '1'],
    ...['--kubernetes-version', 'v1.35.0'],
  );
  client = await cluster.client();
}, TEST_LIMIT_MS);
afterAll(() => cluster?.close());

const create = (name: string): Promise<unknown> =>
  client
    .resource(CONFIG_MAP)
    .create({ metadata: { name, namespace: 'default' }, data: { from: cluster.data } });

const names = (): Promise<string[]> =>
  until('a list', async () => {
    const { items } = await client.resource(CONFIG_MAP, 'default').list();
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  });

test(
  'a snapshot is compared, restored, and refused when it is damaged',
  async () => {
    await create('before');
    const file = join(cluster.data, 'one.db');
    await cluster.run('snapshot', 'save', file);
    expect(await etcdctl('snapshot', 'status', file)).toContain(',');
    await create('after');

    const comparison = await cluster.json<SnapshotComparison>('snapshot', 'compare', file);
    expect(comparison.rows.find(({ resource }) => resource === 'configmaps')?.goes).toContain(
      'default/after',
    );

    const damaged = join(cluster.data, 'damaged.db');
    const bytes = readFileSync(file);
    bytes.write('damage', 50_000);
    writeFileSync(damaged, bytes);
    expect(await cluster.refused('snapshot', 'restore', damaged)).toContain('nothing was changed');
    expect(await names()).toEqual(['after', 'before']);

    expect(await cluster.run('snapshot', 'restore', file)).toContain('restored');
    expect(await names()).toEqual(['before']);
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);

/** Longer than a kubelet waits before it tries to create a mirror pod again. */
const QUIET_MS = 5_000;

/** Creations of pods that the API server has answered with 409, in all. */
const conflicts = async (): Promise<number> => {
  const kubectl = (await cluster.kubectl())!;
  const { stdout } = await kubectl.kubectl(['get', '--raw', '/metrics']);
  const lines = stdout.split('\n').filter((line) => line.startsWith('apiserver_request_total{'));
  expect(lines.length).toBeGreaterThan(0);
  const isConflict = (line: string): boolean =>
    ['code="409"', 'resource="pods"', 'verb="POST"'].every((label) => line.includes(label));
  return lines.filter(isConflict).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

test(
  'after a restore, kubelets take over the mirror pods that came back with it',
  async () => {
    const mirrors = client.resource(POD, 'kube-system');
    const uid = async (): Promise<string> => (await mirrors.get('kube-scheduler-cp-1')).metadata.uid;
    const file = join(cluster.data, 'mirrors.db');
    // The restore before this may still be on its way to the kubelet.
    const before = await until('the mirror pod', uid);
    await cluster.run('snapshot', 'save', file);
    await mirrors.delete('kube-scheduler-cp-1');
    await until('another mirror pod', async () => (await uid()) !== before);

    await cluster.run('snapshot', 'restore', file);
    await cluster.untilWell();
    await until('the mirror pod to be one that its kubelet knows', async () => {
      const known = await conflicts();
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      return (await conflicts()) === known;
    });
  },
  TEST_LIMIT_MS,
);

test(
  "a real etcd's snapshot is restored, with what our API server wrote there",
  async () => {
    const ours = join(cluster.data, 'ours.db');
    await cluster.run('snapshot', 'save', ours);
    const folder = join(cluster.data, 'real');
    await etcdctl('snapshot', 'restore', ours, `--data-dir=${folder}`);
    const real = await startRealEtcd(folder);
    const theirs = join(cluster.data, 'theirs.db');
    try {
      await etcdctl(`--endpoints=${real.endpoint}`, 'snapshot', 'save', theirs);
    } finally {
      await real.stop();
    }
    await create('not-in-theirs');
    await cluster.run('snapshot', 'restore', theirs);
    expect(await names()).toEqual(['before']);
  },
  TEST_LIMIT_MS,
);

test(
  'a new cluster takes over what another has saved',
  async () => {
    const file = join(cluster.data, 'for-another.db');
    await cluster.run('snapshot', 'save', file);
    const other = await operate('--network', '238', '--control-planes', '1', '--workers', '0');
    try {
      expect(await other.run('snapshot', 'restore', file)).toContain('on 1 members');
      const there = await other.client();
      const { data } = await until('the object', () => there.resource(CONFIG_MAP, 'default').get('before'));
      expect(data).toEqual({ from: cluster.data });
      await there
        .resource(CONFIG_MAP)
        .create({ metadata: { name: 'since', namespace: 'default' }, data: {} });
    } finally {
      await other.close();
    }
  },
  TEST_LIMIT_MS,
);

test(
  'an upgrade that is cut off by kill -9 continues where it was',
  async () => {
    const applying = cluster.attempt('upgrade', 'apply', 'v1.36.0');
    await until('the upgrade to begin', async () => {
      const { hosts } = await cluster.state();
      return hosts[0]!.components.some(
        ({ name, version }) => name === 'kube-apiserver' && version === 'v1.36.0',
      );
    });
    await cluster.down('SIGKILL');
    await applying;
    await cluster.again();
    expect(await cluster.refused('upgrade', 'apply', 'v1.35.1')).toContain(
      'the upgrade to v1.36.0 is incomplete',
    );
    expect(await cluster.run('upgrade', 'apply', 'v1.36.0')).toContain('upgraded from v1.35.0 to v1.36.0');
    const { kubernetesVersion } = await cluster.state();
    expect([kubernetesVersion, await names()]).toEqual(['v1.36.0', ['before']]);
  },
  TEST_LIMIT_MS,
);

test(
  'one object comes back from a snapshot after its namespace was deleted, and encrypted values need their key',
  async () => {
    const namespace = 'harbour';
    await client.json({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name: namespace } },
    });
    await client
      .resource(CONFIG_MAP)
      .create({ metadata: { name: 'chart', namespace }, data: { depth: '7' } });
    const secret = { metadata: { name: 'berth' }, stringData: { key: 'opens' } };
    await client.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body: secret });
    const file = join(cluster.data, 'harbour.db');
    await cluster.run('snapshot', 'save', file);
    const { rows } = await cluster.json<{ rows: { plural: string; count: number }[] }>(
      'snapshot',
      'browse',
      file,
    );
    expect(rows.find(({ plural }) => plural === 'configmaps')?.count).toBeGreaterThan(0);
    expect(await cluster.run('snapshot', 'show', file, 'cm', 'chart', '-n', namespace)).toContain(
      'depth: "7"',
    );
    expect(await cluster.run('snapshot', 'show', file, 'secret', 'berth', '-n', namespace)).toContain(
      Buffer.from('opens').toString('base64'),
    );
    const elsewhere = await pilothouse(
      ...[
        'snapshot',
        'show',
        file,
        'secret',
        'berth',
        '-n',
        namespace,
        '--data',
        join(cluster.data, 'nowhere'),
      ],
    );
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining('is encrypted (k8s:enc:'),
    ]);

    await client.json({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    await until('the namespace is gone', async () => {
      const list = await client.json<{ items: { metadata: { name: string } }[] }>({
        method: 'GET',
        path: '/api/v1/namespaces',
      });
      return list.items.every(({ metadata }) => metadata.name !== namespace);
    });
    expect(await cluster.run('snapshot', 'diff', file, '-n', namespace)).toContain(
      '- configmaps harbour/chart',
    );
    const restore = ['snapshot', 'restore-object', file, 'configmaps', 'chart', '-n', namespace];
    expect(await cluster.run(...restore, '--dry-run')).toContain('ConfigMap harbour/chart created (dry run)');
    expect(await cluster.run(...restore)).toContain('namespace harbour does not exist and is restored first');
    const { items } = await client.resource(CONFIG_MAP, namespace).list();
    expect(items.find(({ metadata }) => metadata.name === 'chart')?.data).toEqual({ depth: '7' });
    expect(
      await cluster.run(...['snapshot', 'restore-object', file, '--whole-namespace', '-n', namespace]),
    ).toContain('Secret harbour/berth created');
    expect(await cluster.run(...restore)).toBe('');
  },
  TEST_LIMIT_MS,
);

test(
  'snapshots are taken on schedule, and the oldest ones are deleted',
  async () => {
    const set = await cluster.json<{ schedule: object; nextAtMs: number }>(
      ...['snapshot', 'schedule', '--every-minutes', '60', '--keep', '2'],
    );
    expect(set.schedule).toEqual({ enabled: true, everyMinutes: 60, keep: 2 });
    await until('the first snapshot', async () => {
      const files = await cluster.json<{ isScheduled: boolean; problem: string }[]>('snapshot', 'list');
      return files.some(({ isScheduled, problem }) => isScheduled && problem === '');
    });
  },
  TEST_LIMIT_MS,
);
