import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as proto from '../../core/etcd/proto/index.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster } from '../support/etcd-cluster.ts';
import { etcdctlFor, hasEtcdctl, type Etcdctl } from '../support/etcd-ctl.ts';
import { runCommand } from '../support/etcd-process.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc } from '../support/grpc-client.ts';

const OCTETS = { simple: 85, jwt: 87, restored: 89 };
const ROOT = '--user=root:r00t';
const USER = '--user=user:pass';
const AUTHENTICATE = {
  path: '/etcdserverpb.Auth/Authenticate',
  request: proto.AuthenticateRequest,
  response: proto.AuthenticateResponse,
};

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-auth-cluster-'));
const clusters: EtcdCluster[] = [];

const start = async (
  name: keyof typeof OCTETS,
  size: number,
  flags: readonly string[],
): Promise<EtcdCluster> => {
  const octet = OCTETS[name];
  const cluster = new EtcdCluster({
    flavour: 'pilothouse',
    size,
    octet,
    directory: join(directory, name),
    certificates: makeCertificates(join(directory, `${name}-pki`), octet),
    extraFlags: ['--bcrypt-cost=4', ...flags],
  });
  cluster.start();
  clusters.push(cluster);
  await cluster.healthy();
  return cluster;
};

/** etcdctl of one member alone. */
const at = (cluster: EtcdCluster, index: number): Etcdctl =>
  etcdctlFor(() => [cluster.endpoints[index]!], cluster.options.certificates);

const enableAuth = async (ctl: Etcdctl): Promise<void> => {
  for (const line of [
    ...[
      'put open 1',
      'put closed 1',
      'user add root:r00t',
      'user grant-role root root',
      'user add user:pass',
    ],
    ...['role add r', 'role grant-permission r readwrite open', 'user grant-role user r', 'auth enable'],
  ])
    await ctl.ok(...line.split(' '));
};

describe.skipIf(!hasEtcdctl())('auth in a cluster of three', () => {
  let cluster: EtcdCluster;
  let members: Etcdctl[];

  beforeAll(async () => {
    cluster = await start('simple', 3, []);
    members = [0, 1, 2].map((index) => at(cluster, index));
    await enableAuth(members[0]!);
  });
  afterAll(async () => {
    await Promise.all(clusters.map((one) => one.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test('every member knows users and permissions', async () => {
    for (const member of members) {
      expect(await member.ok(USER, 'get', 'open')).toBe('open\n1\n');
      expect(await member.refusal(USER, 'get', 'closed')).toBe('Error: etcdserver: permission denied');
      expect(await member.refusal('get', 'open')).toBe('Error: etcdserver: permission denied');
    }
  });

  test('a token is good at every member as soon as its client has it', async () => {
    const issuing = cluster.connect(0);
    await issuing.ready();
    for (let round = 0; round < 20; round += 1) {
      const { token } = await issuing.unary(AUTHENTICATE, { name: 'user', password: 'pass' });
      const other = connectRpc(cluster.endpoints[1 + (round % 2)]!, cluster.options.certificates.client, {
        token,
      });
      await other.ready();
      const range = {
        path: '/etcdserverpb.KV/Range',
        request: proto.RangeRequest,
        response: proto.RangeResponse,
      };
      const { kvs } = await other.unary(range, { key: Buffer.from('open') });
      expect(kvs).toHaveLength(1);
      other.close();
    }
    issuing.close();
  });

  test('a permission that was revoked is gone at every member once that was acknowledged', async () => {
    for (let round = 0; round < 6; round += 1) {
      const [changing, reading] = [members[round % 3]!, members[(round + 1) % 3]!];
      await changing.ok(ROOT, 'role', 'revoke-permission', 'r', 'open');
      expect(await reading.refusal(USER, 'get', 'open')).toBe('Error: etcdserver: permission denied');
      expect(await reading.refusal(USER, 'put', 'open', 'x')).toBe('Error: etcdserver: permission denied');
      await changing.ok(ROOT, 'role', 'grant-permission', 'r', 'readwrite', 'open');
      expect(await reading.ok(USER, 'get', 'open')).toBe('open\n1\n');
    }
  });

  test('a watch needs permission for all that it would see', async () => {
    const issuing = cluster.connect(0);
    await issuing.ready();
    const { token } = await issuing.unary(AUTHENTICATE, { name: 'user', password: 'pass' });
    issuing.close();
    const client = connectRpc(cluster.endpoints[1]!, cluster.options.certificates.client, { token });
    await client.ready();
    const answers: proto.WatchResponse[] = [];
    const watching = client.stream(RPC.watch, (answer) => answers.push(answer));
    const [key, end] = [Buffer.from('open'), Buffer.from('opeo')];
    for (const rangeEnd of [end, Buffer.of(0)]) watching.send({ createRequest: { key, rangeEnd } });
    watching.send({ createRequest: { key } });
    await expect.poll(() => answers.length).toBe(3);
    const refused = {
      created: true,
      canceled: true,
      cancelReason: 'rpc error: code = PermissionDenied desc = etcdserver: permission denied',
    };
    expect(answers).toMatchObject([refused, refused, { created: true, canceled: false, cancelReason: '' }]);
    await members[0]!.ok(USER, 'put', 'open', '1');
    await expect.poll(() => answers.length).toBe(4);
    expect(answers[3]!.events).toHaveLength(1);
    watching.close();
    client.close();
  });

  test('it outlives the death of every member, and a restore of its snapshot', async () => {
    for (const member of cluster.members) await member.kill('SIGKILL');
    for (let index = 0; index < 3; index += 1) cluster.startMember(index);
    const ctl = at(cluster, 0);
    await expect.poll(() => ctl.run([ROOT, 'endpoint', 'health']).then(({ code }) => code)).toBe(0);
    expect(await ctl.ok(USER, 'get', 'open')).toBe('open\n1\n');
    expect(await ctl.refusal(USER, 'get', 'closed')).toBe('Error: etcdserver: permission denied');

    const file = join(directory, 'saved.db');
    await ctl.ok(ROOT, 'snapshot', 'save', file);
    const host = `127.${OCTETS.restored}.0.1`;
    const restored = await runCommand(
      ...['component', 'etcdutl', 'snapshot', 'restore', file, '--name=m1'],
      `--data-dir=${join(directory, 'restored', 'm1')}`,
      `--initial-cluster=m1=https://${host}:2380`,
      `--initial-advertise-peer-urls=https://${host}:2380`,
    );
    expect({ code: restored.code, stderr: restored.stderr }).toMatchObject({ code: 0 });
    const again = new EtcdCluster({
      flavour: 'pilothouse',
      size: 1,
      octet: OCTETS.restored,
      directory: join(directory, 'restored'),
      certificates: makeCertificates(join(directory, 'restored-pki'), OCTETS.restored),
    });
    again.start();
    clusters.push(again);
    const single = at(again, 0);
    await expect.poll(() => single.run([ROOT, 'endpoint', 'health']).then(({ code }) => code)).toBe(0);
    expect(await single.ok(USER, 'get', 'open')).toBe('open\n1\n');
    expect(await single.refusal(USER, 'get', 'closed')).toBe('Error: etcdserver: permission denied');
  });

  test('signed tokens: members share a key instead of a list', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const path = join(directory, 'jwt.key');
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const signed = await start('jwt', 1, [`--auth-token=jwt,sign-method=RS256,priv-key=${path},ttl=10m`]);
    const ctl = at(signed, 0);
    await enableAuth(ctl);
    expect(await ctl.ok(USER, 'get', 'open')).toBe('open\n1\n');
    expect(await ctl.refusal(USER, 'get', 'closed')).toBe('Error: etcdserver: permission denied');
    expect(await ctl.refusal('--user=user:wrong', 'get', 'open')).toBe(
      'Error: etcdserver: authentication failed, invalid user ID or password',
    );
  });
});
