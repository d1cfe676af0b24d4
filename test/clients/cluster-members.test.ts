import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONFIG_MAP } from '../../core/client/index.ts';
import { startWriter } from '../support/idempotent-writer.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';

/** A machine that does much else at the same time needs longer for a whole rehearsal. */
const TEST_LIMIT_MS = 900_000;

let cluster: OperatedCluster;

beforeAll(async () => {
  cluster = await operate('--network', '222', '--control-planes', '1', '--workers', '0');
}, TEST_LIMIT_MS);
afterAll(() => cluster?.close());

interface EtcdMember {
  readonly name: string;
  readonly isLearner?: boolean;
}

/** As the real etcdctl sees them. */
const membersOf = async (): Promise<string[]> => {
  const { members } = JSON.parse(await cluster.etcdctl('member', 'list', '-w', 'json')) as {
    members: EtcdMember[];
  };
  return members.map(({ name, isLearner }) => `${name}${isLearner === true ? ' (learner)' : ''}`).sort();
};

const hashesOf = async (): Promise<Set<number>> => {
  const list = JSON.parse(await cluster.etcdctl('endpoint', 'hashkv', '-w', 'json')) as {
    HashKV: { hash: number };
  }[];
  return new Set(list.map(({ HashKV }) => HashKV.hash));
};

const backendsOf = async (): Promise<string[]> =>
  ((await cluster.state()).loadBalancer?.backends ?? [])
    .filter(({ healthy }) => healthy)
    .map(({ name }) => name)
    .sort();

const servedSerial = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });

test(
  'a cluster grows from one control plane to three while it is written to',
  async () => {
    const writer = await startWriter(await cluster.client(), 'while-growing');
    expect(await cluster.run('member', 'add')).toContain('cp-2 has joined; 2 members vote');
    expect(await cluster.run('member', 'add')).toContain('cp-3 has joined; 3 members vote');
    const { failures } = await writer.stop();
    // The first API server restarts while it is the only one; after that nobody notices.
    expect(failures.length).toBeLessThan(20);
    expect(await membersOf()).toEqual(['cp-1', 'cp-2', 'cp-3']);
    expect(JSON.parse(await cluster.etcdctl('endpoint', 'status', '-w', 'json'))).toHaveLength(3);
    await until('three API servers', async () => (await backendsOf()).length === 3);
    await until('equal hashes', async () => (await hashesOf()).size === 1);
    const flag = /--etcd-servers=(\S+)/.exec(
      readFileSync(join(cluster.data, 'hosts/cp-1/manifests/kube-apiserver.yaml'), 'utf8'),
    )?.[1];
    expect(flag?.split(',')).toHaveLength(3);
    const kubectl = await cluster.kubectl();
    const nodes = await kubectl?.ok(
      'get',
      'nodes',
      '-l',
      'node-role.kubernetes.io/control-plane',
      '-o',
      'name',
    );
    expect(nodes?.trim().split('\n').sort() ?? []).toEqual(
      kubectl ? ['node/cp-1', 'node/cp-2', 'node/cp-3'] : [],
    );
  },
  TEST_LIMIT_MS,
);

test(
  'three grow to five and back, and who was there before stays',
  async () => {
    expect(await cluster.run('member', 'add')).toContain('cp-4 has joined; 4 members vote');
    expect(await cluster.run('member', 'add')).toContain('cp-5 has joined; 5 members vote');
    expect(await membersOf()).toEqual(['cp-1', 'cp-2', 'cp-3', 'cp-4', 'cp-5']);
    await until('five API servers', async () => (await backendsOf()).length === 5);
    await until('equal hashes', async () => (await hashesOf()).size === 1);
    expect(await cluster.run('member', 'remove', 'cp-4')).toContain('removed cp-4; 4 members vote');
    expect(await cluster.run('member', 'remove', 'cp-5')).toContain('removed cp-5; 3 members vote');
    expect(await membersOf()).toEqual(['cp-1', 'cp-2', 'cp-3']);
    const kubectl = await cluster.kubectl();
    const nodes = await kubectl?.ok('get', 'nodes', '-o', 'name');
    expect(nodes?.trim().split('\n').sort()).toEqual(kubectl && ['node/cp-1', 'node/cp-2', 'node/cp-3']);
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);

test(
  'with a member down no healthy one is removed, and an outage wants --yes',
  async () => {
    await cluster.run('host', 'kill', 'cp-3');
    expect(await cluster.refused('member', 'remove', 'cp-2')).toContain(
      'etcd would have 2 members and need 2, but 1 would answer; bring members back first',
    );
    expect(await cluster.refused('host', 'kill', 'cp-2')).toContain('that would be an outage');
    await cluster.run('host', 'start', 'cp-3');
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);

test(
  'the leader leaves, and whoever writes is told no more than to try again',
  async () => {
    await cluster.run('member', 'move-leader', 'cp-1');
    const writer = await startWriter(await cluster.client(), 'while-shrinking');
    expect(await cluster.run('member', 'remove', 'cp-1')).toContain('removed cp-1; 2 members vote');
    const { failures } = await writer.stop();
    expect(failures.filter((failure) => !failure.includes('please try again'))).toEqual([]);
    expect(failures.length).toBeLessThan(3);
    expect(await membersOf()).toEqual(['cp-2', 'cp-3']);
    expect((await cluster.state()).hosts.map(({ name }) => name)).toEqual(['cp-2', 'cp-3']);
    await until('equal hashes', async () => (await hashesOf()).size === 1);
  },
  TEST_LIMIT_MS,
);

test(
  'a removal that is cut off by kill -9 is ended by the next start',
  async () => {
    const removing = cluster.attempt('member', 'remove', 'cp-3');
    await until('the removal to begin', () => {
      try {
        return readFileSync(join(cluster.data, 'membership.json'), 'utf8').includes('cp-3');
      } catch {
        return false;
      }
    });
    await cluster.down('SIGKILL');
    await removing;
    await cluster.again();
    await until('one member', async () => (await membersOf()).join() === 'cp-2');
    await until('the end of it', async () => (await cluster.state()).hosts.length === 1);
    await cluster.untilWell();
    const client = await cluster.client();
    expect((await client.resource(CONFIG_MAP, 'default').get('while-shrinking')).data).toBeDefined();
  },
  TEST_LIMIT_MS,
);

test(
  'a renewed certificate is served, and kubectl goes on',
  async () => {
    const before = await servedSerial('127.222.0.2', 6443);
    await cluster.run('certs', 'renew', 'all');
    await until('another serial', async () => (await servedSerial('127.222.0.2', 6443)) !== before);
    const kubectl = await cluster.kubectl();
    expect((await kubectl?.ok('get', 'nodes', '-o', 'name')) ?? 'node/cp-2').toContain('node/cp-2');
  },
  TEST_LIMIT_MS,
);
