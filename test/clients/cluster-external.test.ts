import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CONFIG_MAP } from '../../core/client/index.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';
import { ETCD_BINARY, etcdctl } from './real-etcd.ts';

/** A machine that does much else at the same time needs longer for a whole rehearsal. */
const TEST_LIMIT_MS = 400_000;

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const operated = async (...flags: readonly string[]): Promise<OperatedCluster> => {
  const cluster = await operate(...flags);
  closing.push(() => cluster.close());
  return cluster;
};

const writesThrough = async (cluster: OperatedCluster): Promise<void> => {
  const client = await cluster.client();
  await client.resource(CONFIG_MAP).create({ metadata: { name: 'kept', namespace: 'default' }, data: {} });
  const kubectl = await cluster.kubectl();
  expect((await kubectl?.ok('get', 'configmap', 'kept', '-o', 'name')) ?? 'configmap/kept').toContain('kept');
};

test(
  'members on hosts of their own serve the control planes, and one more joins them',
  async () => {
    const cluster = await operated(
      ...['--network', '228', '--topology', 'external', '--etcd-members', '3'],
      ...['--control-planes', '1', '--workers', '0'],
    );
    expect((await cluster.state()).hosts.map(({ name, role }) => `${name} ${role}`)).toEqual([
      'etcd-1 etcd',
      'etcd-2 etcd',
      'etcd-3 etcd',
      'cp-1 control-plane',
    ]);
    await writesThrough(cluster);
    expect(await cluster.run('member', 'remove', 'etcd-1')).toContain(
      'removed etcd-1; etcd has 2 voting members',
    );
    expect(await cluster.run('member', 'add')).toContain('added etcd-1; etcd has 3 voting members');
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);

/** Three members of the real etcd with TLS, on 127.231.0.1 to 3. */
const realMembers = (folder: string): ReturnType<typeof makeCertificates> => {
  const files = makeCertificates(join(folder, 'pki'), 231);
  const address = (n: number): string => `127.231.0.${n}`;
  const initial = [1, 2, 3].map((n) => `m${n}=https://${address(n)}:2380`).join(',');
  for (const n of [1, 2, 3]) {
    const child: ChildProcess = spawn(
      ETCD_BINARY,
      [
        `--name=m${n}`,
        `--data-dir=${join(folder, `m${n}`)}`,
        `--listen-client-urls=https://${address(n)}:2379`,
        `--advertise-client-urls=https://${address(n)}:2379`,
        `--listen-peer-urls=https://${address(n)}:2380`,
        `--initial-advertise-peer-urls=https://${address(n)}:2380`,
        `--initial-cluster=${initial}`,
        '--initial-cluster-token=real',
        `--cert-file=${files.serverCertFile}`,
        `--key-file=${files.serverKeyFile}`,
        `--trusted-ca-file=${files.caFile}`,
        '--client-cert-auth',
        `--peer-cert-file=${files.peerCertFile}`,
        `--peer-key-file=${files.peerKeyFile}`,
        `--peer-trusted-ca-file=${files.caFile}`,
        '--peer-client-cert-auth',
      ],
      { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } },
    );
    const ended = once(child, 'exit');
    closing.push(() => {
      child.kill('SIGKILL');
      return ended;
    });
  }
  return files;
};

test(
  'the API servers run on a real etcd of three members with TLS',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilothouse-real-etcd-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const files = realMembers(folder);
    const endpoints = [1, 2, 3].map((n) => `https://127.231.0.${n}:2379`).join(',');
    const access = [
      `--endpoints=${endpoints}`,
      `--cacert=${files.caFile}`,
      `--cert=${files.clientCertFile}`,
      `--key=${files.clientKeyFile}`,
    ];
    await until('the real etcd', async () =>
      (await etcdctl(...access, 'member', 'list')).includes('started'),
    );
    const cluster = await operated(
      ...['--network', '232', '--control-planes', '1', '--workers', '0', '--external-etcd', endpoints],
      ...['--etcd-cafile', files.caFile, '--etcd-certfile', files.clientCertFile],
      ...['--etcd-keyfile', files.clientKeyFile],
    );
    await writesThrough(cluster);
    const keys = await etcdctl(...access, 'get', '/registry/configmaps/default/kept', '--keys-only');
    expect(keys.trim()).toBe('/registry/configmaps/default/kept');
    expect(await cluster.refused('member', 'add')).toContain('uses an external etcd');
    const members = await cluster.json<{ name: string }[]>('member', 'list');
    expect(members.map(({ name }) => name).sort()).toEqual(['m1', 'm2', 'm3']);
  },
  TEST_LIMIT_MS,
);
