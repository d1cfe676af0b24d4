import { existsSync, renameSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, expect, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import * as proto from '../../core/etcd/proto/index.ts';
import { lmdbHouse } from '../../core/etcd/server/lmdb-house.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, type ClusterCertificates } from '../support/etcd-cluster.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { RpcError } from '../support/grpc-client.ts';
import { until } from '../support/until.ts';

const OCTET = 79;

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-join-'));
const clusters: EtcdCluster[] = [];

afterEach(async () => {
  await Promise.all(clusters.splice(0).map((cluster) => cluster.stop()));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const start = async (
  size: number,
  certificates: ClusterCertificates,
  extraFlags: readonly string[] = [],
): Promise<EtcdCluster> => {
  const cluster = new EtcdCluster({
    flavour: 'pilothouse',
    size,
    octet: OCTET,
    directory: mkdtempSync(join(directory, 'members-')),
    certificates,
    extraFlags,
  });
  clusters.push(cluster);
  cluster.start();
  await cluster.healthy();
  return cluster;
};

const exitOf = (cluster: EtcdCluster, index: number): Promise<number | null> => {
  const { process: child } = cluster.members[index]!;
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
};

test('a member joins by snapshot when the log no longer reaches back, and stops on its own when it is removed', async () => {
  const certificates = makeCertificates(join(directory, 'pki'), OCTET);
  const cluster = await start(1, certificates, ['--snapshot-count=50', '--snapshot-catchup-entries=5']);
  const first = cluster.connect(0);
  try {
    for (let n = 0; n < 300; n += 1)
      await first.unary(RPC.put, { key: Buffer.from(`key-${n % 100}`), value: Buffer.from(`value ${n}`) });
    const url = cluster.peerUrl(1);
    const { member } = await first.unary(RPC.memberAdd, { peerURLs: [url] });
    cluster.startMember(1, { state: 'existing', initialCluster: `m1=${cluster.peerUrl(0)},m2=${url}` });
    await cluster.healthy([0, 1]);
    expect(cluster.log(0)).toMatch(/snapshot/i);

    const { header } = await until('a put on both', () =>
      first.unary(RPC.put, { key: Buffer.from('both'), value: Buffer.from('x') }),
    );
    const second = cluster.connect(1);
    const { count } = await second.unary(RPC.range, { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) });
    const revision = header!.revision;
    const hashes = [
      await first.unary(RPC.hashKv, { revision }),
      await second.unary(RPC.hashKv, { revision }),
    ];
    second.close();
    expect(count).toBe(101);
    expect(hashes[0]!.hash).toBe(hashes[1]!.hash);

    await until('the member to be removed', () =>
      first.unary(RPC.memberRemove, { ID: member!.ID }).catch((error: unknown) => {
        // Asked again after an answer that was lost.
        if (error instanceof RpcError && error.message === 'etcdserver: member not found') return true;
        throw error;
      }),
    );
    expect(await exitOf(cluster, 1)).toBe(1);
    expect(cluster.log(1).trimEnd().split('\n').at(-1)).toBe(
      'pilothouse: this member has been removed from the cluster',
    );
    // It stays out, and says so immediately.
    cluster.startMember(1);
    expect(await exitOf(cluster, 1)).toBe(1);
    expect(cluster.log(1).trimEnd().split('\n').at(-1)).toMatch(/^pilothouse: .*removed from the cluster/);
  } finally {
    first.close();
  }
});

test('a founder that has lost its data is not let in under its old name, and is back with them', async () => {
  const certificates = makeCertificates(join(directory, 'pki-lost'), OCTET);
  const cluster = await start(2, certificates);
  const [first, second] = cluster.members;
  const client = cluster.connect(0);
  await until('the first to know that the second has run', async () =>
    (await client.unary(RPC.memberList, { linearizable: false })).members.every(
      ({ clientURLs }) => clientURLs.length > 0,
    ),
  );
  client.close();
  await second!.kill('SIGKILL');
  renameSync(second!.dataDirectory, `${second!.dataDirectory}.aside`);
  cluster.startMember(1);
  expect(await exitOf(cluster, 1)).toBe(1);
  expect(cluster.log(1).trimEnd().split('\n').at(-1)).toMatch(
    /^pilothouse: member [0-9a-f]+ has already been bootstrapped, but .*m2.*wal holds no log; put its data folder back/,
  );
  // No majority was made of it.
  expect([existsSync(join(second!.dataDirectory, 'member')), first!.process.exitCode]).toEqual([false, null]);
  rmSync(second!.dataDirectory, { recursive: true, force: true });
  renameSync(`${second!.dataDirectory}.aside`, second!.dataDirectory);
  cluster.startMember(1);
  await cluster.healthy();
});

/** As a disk that lies: one byte of a value in the database of a member that does not run. */
const changeUnderneath = async (dataDirectory: string, value: string): Promise<void> => {
  const failures: unknown[] = [];
  const backend = await lmdbHouse(join(dataDirectory, 'member'), {
    clock: systemClock,
    onCommitFailed: (error) => failures.push(error),
  }).open();
  const row = backend
    .range('key', Buffer.of(0), undefined, 10_000)
    .find((entry) => Buffer.from(entry.value).includes(value));
  const changed = Buffer.from(row!.value);
  changed[changed.indexOf(value)]! ^= 1;
  backend.put('key', Buffer.from(row!.key), changed);
  await backend.commit();
  await backend.close();
  expect(failures).toEqual([]);
};

const CHECKS = {
  'the periodic check': ['--corrupt-check-time=1s'],
  'the check of compactions': [
    ...['--feature-gates=CompactHashCheck=true', '--compact-hash-check-time=1s'],
    // Slow enough to be killed in the middle of one.
    ...['--experimental-compaction-batch-limit=10', '--experimental-compaction-sleep-interval=300ms'],
  ],
} as const;

test.each(Object.entries(CHECKS))('%s names the member whose database was changed', async (name, flags) => {
  const certificates = makeCertificates(mkdtempSync(join(directory, 'pki-corrupt-')), OCTET);
  const cluster = await start(3, certificates, flags);
  const leader = await cluster.leader();
  const changed = (leader + 1) % 3;
  const client = cluster.connect(leader);
  try {
    let revision = 0;
    for (let n = 0; n < 100; n += 1) {
      const put = { key: Buffer.from(`key-${n % 50}`), value: Buffer.from(`value ${n}.`) };
      revision = (await client.unary(RPC.put, put)).header!.revision;
    }
    const follower = cluster.connect(changed);
    await follower.unary(RPC.range, { key: Buffer.from('key-1') });
    const id = (await follower.unary(RPC.status, {})).header!.memberId;
    follower.close();
    // SIGTERM: what it has applied is committed, so the log does not write the row again.
    await cluster.members[changed]!.kill('SIGTERM');
    await changeUnderneath(cluster.members[changed]!.dataDirectory, 'value 77.');
    cluster.startMember(changed);
    await cluster.healthy([changed]);
    if (name === 'the check of compactions') {
      await client.unary(RPC.compact, { revision: revision - 1 });
      await cluster.members[changed]!.kill('SIGKILL');
      cluster.startMember(changed);
    }
    const alarms = await until('an alarm', async () => {
      const answer = await client.unary(RPC.alarm, { action: proto.ALARM_ACTION.GET });
      return answer.alarms.length > 0 ? answer.alarms : undefined;
    });
    expect(alarms).toMatchObject([{ memberID: id, alarm: proto.ALARM_TYPE.CORRUPT }]);
    await expect(client.unary(RPC.put, { key: Buffer.from('a'), value: Buffer.from('b') })).rejects.toThrow(
      'etcdserver: corrupt cluster',
    );
  } finally {
    client.close();
  }
});

test('clients that look at its health use other members while a member is defragmented', async () => {
  const certificates = makeCertificates(join(directory, 'pki-defrag'), OCTET);
  const cluster = await start(2, certificates, ['--feature-gates=StopGRPCServiceOnDefrag=true']);
  const [defragmented, other] = [cluster.connect(0), cluster.connect(1)];
  const { SERVING, NOT_SERVING } = proto.SERVING_STATUS;
  const statuses: number[] = [];
  const moved: Promise<unknown>[] = [];
  const health = defragmented.stream(RPC.healthWatch, ({ status }) => {
    statuses.push(status);
    if (status === NOT_SERVING)
      moved.push(other.unary(RPC.put, { key: Buffer.from('moved'), value: Buffer.from('there') }));
  });
  try {
    health.send({ service: '' });
    health.end();
    await until('the first status', () => Promise.resolve(statuses.length > 0));
    await defragmented.unary(RPC.defragment, {});
    await until('the last status', () => Promise.resolve(statuses.length > 2));
    expect(statuses).toEqual([SERVING, NOT_SERVING, SERVING]);
    await Promise.all(moved);
    const { kvs } = await defragmented.unary(RPC.range, { key: Buffer.from('moved') });
    expect(kvs.map(({ value }) => Buffer.from(value).toString())).toEqual(['there']);
  } finally {
    health.close();
    defragmented.close();
    other.close();
  }
});

test('a renewed certificate is served without a restart, and a broken one is not', async () => {
  const folder = mkdtempSync(join(directory, 'renewal-'));
  const root = createAuthority({ clock: systemClock, commonName: 'etcd-ca' });
  const authority = openAuthority(root);
  const issue = (commonName: string) =>
    issueLeaf(authority, {
      clock: systemClock,
      subject: { commonName },
      usages: ['server', 'client'],
      alternativeNames: alternativeNames(['localhost', `127.${OCTET}.0.1`]),
    });
  /** As a renewal does: a new file beside the old one, put in its place immediately. */
  const replace = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  };
  const install = (commonName: string): { certFile: string; keyFile: string } => {
    const { certificatePem, privateKeyPem } = issue(commonName);
    return { certFile: replace('tls.crt', certificatePem), keyFile: replace('tls.key', privateKeyPem) };
  };
  const { certFile, keyFile } = install('before');
  const client = issue('client');
  const caFile = replace('ca.crt', root.certificatePem);
  const credentials = { ca: root.certificatePem, cert: client.certificatePem, key: client.privateKeyPem };
  const cluster = await start(1, {
    caFile,
    serverCertFile: certFile,
    serverKeyFile: keyFile,
    peerCertFile: certFile,
    peerKeyFile: keyFile,
    clientCertFile: replace('client.crt', client.certificatePem),
    clientKeyFile: replace('client.key', client.privateKeyPem),
    client: credentials,
  });
  const shown = (port: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({ host: `127.${OCTET}.0.1`, port, ...credentials }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.once('error', reject);
    });
  const old = cluster.connect(0);
  try {
    await old.ready();
    expect(await Promise.all([shown(2379), shown(2380)])).toEqual(['before', 'before']);

    install('after');
    await until('the new one for clients', async () => (await shown(2379)) === 'after');
    await until('the new one for peers', async () => (await shown(2380)) === 'after');

    replace('tls.crt', 'this is not a certificate');
    await until('its refusal', () => /renewed certificate cannot be used/.test(cluster.log(0)));
    expect(await Promise.all([shown(2379), shown(2380)])).toEqual(['after', 'after']);

    install('repaired');
    await until('the repaired one', async () => (await shown(2379)) === 'repaired');
    // Who was connected all the time has noticed nothing.
    await old.unary(RPC.put, { key: Buffer.from('still'), value: Buffer.from('here') });
  } finally {
    old.close();
  }
});
