import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import * as grpc from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { seededRandom } from '../../core/base/random.ts';
import * as proto from '../../core/etcd/proto/index.ts';
import { serveClients } from '../../core/etcd/rpc/index.ts';
import { ETCD_VERSION } from '../../core/etcd/version.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';
import type { Credential } from '../../core/pki/index.ts';
import { PATIENCE } from '../support/etcd-ctl.ts';
import { SNAPSHOT_BYTES, openMemoryMember } from '../support/memory-etcd-member.ts';

const run = promisify(execFile);
const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const clock = systemClock;
const authority = () => {
  const ca = createAuthority({ commonName: 'etcd-ca', clock });
  const signer = openAuthority(ca);
  const leaf = (commonName: string): Credential =>
    issueLeaf(signer, {
      subject: { commonName },
      usages: ['server', 'client'],
      alternativeNames: alternativeNames(['localhost', '127.0.0.1']),
      clock,
    });
  return { ca, leaf };
};
const tlsOf = (ca: Credential, server: Credential) => ({
  cert: server.certificatePem,
  key: server.privateKeyPem,
  ca: ca.certificatePem,
  clientCertAuth: true,
});

/** A member behind mTLS, and etcdctl set up to talk to it. */
const start = async () => {
  const { ca, leaf } = authority();
  const member = await openMemoryMember();
  opened.push(() => member.close());
  const served = await serveClients({
    member: member.api,
    clock,
    random: seededRandom(1),
    log: silentLog,
    listeners: [
      { address: { host: '127.0.0.1', port: 0 }, tls: tlsOf(ca, leaf('etcd-server')) },
      { address: { host: '127.0.0.1', port: 0 } },
    ],
    plain: ({ path }) => ({ status: 200, contentType: 'application/json', body: `{"path":"${path}"}` }),
  });
  opened.push(() => served.close({ graceMs: 0 }));
  const folder = await mkdtemp(join(tmpdir(), 'etcd-rpc-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  const client = leaf('root');
  await writeFile(join(folder, 'ca.crt'), ca.certificatePem);
  await writeFile(join(folder, 'client.crt'), client.certificatePem);
  await writeFile(join(folder, 'client.key'), client.privateKeyPem, { mode: 0o600 });
  const [secure, plain] = served.servers;
  const env = { ...process.env, ETCDCTL_API: '3' };
  const flags = [
    `--endpoints=https://127.0.0.1:${secure!.port}`,
    `--cacert=${join(folder, 'ca.crt')}`,
    `--cert=${join(folder, 'client.crt')}`,
    `--key=${join(folder, 'client.key')}`,
    ...PATIENCE,
  ];
  const etcdctl = async (...args: string[]): Promise<string> =>
    (await run('etcdctl', [...flags, ...args], { env })).stdout.trim();
  return { ...member, served, secure: secure!, plain: plain!, ca, leaf, client, folder, env, flags, etcdctl };
};

test('etcdctl puts, gets, deletes and transacts over mTLS', async () => {
  const { etcdctl } = await start();
  expect(await etcdctl('put', 'a', '1')).toBe('OK');
  expect(await etcdctl('put', 'b', '2', '--prev-kv')).toBe('OK');
  expect(await etcdctl('get', 'a', 'c')).toBe('a\n1\nb\n2');
  expect(await etcdctl('get', '--prefix', '', '--keys-only', '--limit=1')).toBe('a');
  expect(await etcdctl('del', 'b')).toBe('1');
  await expect(etcdctl('get', 'a', '--rev=99')).rejects.toThrow('required revision is a future revision');
});

test('etcdctl reads status, members, hashes, leases and alarms', async () => {
  const { etcdctl } = await start();
  const [status] = JSON.parse(await etcdctl('endpoint', 'status', '-w', 'json')) as {
    Status: { version: string; leader: bigint };
  }[];
  expect(status!.Status.version).toBe(ETCD_VERSION);
  expect(await etcdctl('endpoint', 'health')).toBeDefined();
  expect(await etcdctl('member', 'list')).toBe(
    '8e9e05c52164694d, started, one, http://localhost:2380, , false',
  );
  expect(await etcdctl('endpoint', 'hashkv')).toMatch(/, \d+$/);
  const granted = await etcdctl('lease', 'grant', '60');
  expect(granted).toMatch(/^lease 694d77aa9e38260f granted with TTL\(60s\)$/);
  expect(await etcdctl('lease', 'keep-alive', '--once', '694d77aa9e38260f')).toContain(
    'keepalived with TTL(60)',
  );
  expect(await etcdctl('lease', 'timetolive', '1234')).toContain('lease 0000000000001234 already expired');
  expect(await etcdctl('lease', 'revoke', '694d77aa9e38260f')).toContain('revoked');
  expect(await etcdctl('alarm', 'list')).toBe('');
  expect(await etcdctl('defrag')).toContain('Finished defragmenting');
});

test('etcdctl saves a snapshot whose checksum is in place', async () => {
  const { etcdctl, folder } = await start();
  const file = join(folder, 'snapshot.db');
  await etcdctl('snapshot', 'save', file);
  expect((await readFile(file)).length).toBe(SNAPSHOT_BYTES + 32);
});

test('etcdctl watches changes as they happen', async () => {
  const { flags, env, store } = await start();
  const watch = spawn('etcdctl', [...flags, 'watch', 'a', '--rev=2', '--prev-kv'], { env });
  opened.push(() => void watch.kill('SIGKILL'));
  store.put({ key: Buffer.from('a'), value: Buffer.from('1') });
  store.put({ key: Buffer.from('a'), value: Buffer.from('2') });
  let output = '';
  for await (const chunk of watch.stdout as AsyncIterable<Buffer>) {
    output += chunk.toString();
    if (output.split('\n').length >= 9) break;
  }
  expect(output.trim().split('\n')).toEqual(['PUT', 'a', '1', 'PUT', 'a', '1', 'a', '2']);
});

test('a request above the limit is refused in the words of gRPC', async () => {
  const { etcdctl, folder, flags, env } = await start();
  const large = spawn('etcdctl', [...flags, 'put', 'big'], { env });
  let errors = '';
  large.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  large.stdin.end(Buffer.alloc(3 * 1024 * 1024, 'x'));
  await new Promise((resolve) => large.on('close', resolve));
  // etcd's own client refuses to send more than 2 MiB, before any server sees it.
  expect(errors).toContain('trying to send message larger than max');
  expect(await etcdctl('put', 'small', folder)).toBe('OK');
});

const fetchSecure = (options: { port: number; ca: string; cert?: string; key?: string }): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', path: '/health', agent: false, ...options }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(`${response.statusCode} ${body}`));
    }).on('error', reject);
  });

test('plain HTTPS is answered on the gRPC port, to clients with a certificate only', async () => {
  const { secure, ca, client } = await start();
  const port = secure.port;
  const identity = { cert: client.certificatePem, key: client.privateKeyPem };
  expect(await fetchSecure({ port, ca: ca.certificatePem, ...identity })).toBe('200 {"path":"/health"}');
  await expect(fetchSecure({ port, ca: ca.certificatePem })).rejects.toThrow(
    /certificate required|ECONNRESET|EPIPE|hang up/,
  );
  const stranger = authority().leaf('stranger');
  await expect(
    fetchSecure({ port, ca: ca.certificatePem, cert: stranger.certificatePem, key: stranger.privateKeyPem }),
  ).rejects.toThrow();
});

test('etcdctl talks to the plain listener, and grpc-js to the secure one', async () => {
  const { plain, secure, env, ca, client } = await start();
  const { stdout } = await run(
    'etcdctl',
    [`--endpoints=http://127.0.0.1:${plain.port}`, ...PATIENCE, 'put', 'x', 'y'],
    { env },
  );
  expect(stdout.trim()).toBe('OK');
  const credentials = grpc.credentials.createSsl(
    Buffer.from(ca.certificatePem),
    Buffer.from(client.privateKeyPem),
    Buffer.from(client.certificatePem),
  );
  const channel = new grpc.Client(`localhost:${secure.port}`, credentials);
  opened.push(() => channel.close());
  const response = await new Promise<proto.RangeResponse>((resolve, reject) => {
    channel.makeUnaryRequest(
      '/etcdserverpb.KV/Range',
      (value: proto.RangeRequestIn) => proto.RangeRequest.encode(value),
      (value: Buffer) => proto.RangeResponse.decode(value),
      { key: Buffer.from('x') },
      (error, value) => (error === null ? resolve(value!) : reject(error)),
    );
  });
  expect(Buffer.from(response.kvs[0]!.value).toString()).toBe('y');
});

test('renewed certificates serve the next handshake', async () => {
  const { served, secure, ca, leaf, client } = await start();
  const serverName = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const socket = connectTls(
        {
          port: secure.port,
          host: '127.0.0.1',
          ca: ca.certificatePem,
          cert: client.certificatePem,
          key: client.privateKeyPem,
          ALPNProtocols: ['h2'],
        },
        () => {
          resolve(`${String(socket.getPeerCertificate().subject.CN)} ${String(socket.alpnProtocol)}`);
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });
  expect(await serverName()).toBe('etcd-server h2');
  served.renewCertificates(tlsOf(ca, leaf('etcd-server-renewed')));
  expect(await serverName()).toBe('etcd-server-renewed h2');
});
