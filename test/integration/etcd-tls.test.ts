import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';
import { revocationList } from '../../core/etcd/peer/testing.ts';
import { startCommand, type CommandProcess } from '../support/etcd-process.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc } from '../support/grpc-client.ts';

const HOST = '127.71.0.1';
const PORTS = { client: 2379, peer: 2380, metrics: 2381 };
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-tls-'));
const root = createAuthority({ clock: systemClock, commonName: 'etcd-ca' });
const authority = openAuthority(root);
let member: CommandProcess | undefined;
let runs = 0;

const leaf = (commonName: string, names: readonly string[]) => {
  const { certificatePem: cert, privateKeyPem: key } = issueLeaf(authority, {
    clock: systemClock,
    subject: { commonName },
    usages: ['server', 'client'],
    alternativeNames: alternativeNames(names),
  });
  return { cert, key };
};
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const client = { ca: root.certificatePem, ...leaf('client', ['client.local']) };

beforeAll(() => {
  file('ca.crt', root.certificatePem);
  const { cert, key } = leaf('server', ['localhost', HOST]);
  file('server.crt', cert);
  file('server.key', key);
});
afterEach(() => member?.kill('SIGKILL'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const start = async (...flags: readonly string[]): Promise<void> => {
  const [clientUrl, peerUrl] = [PORTS.client, PORTS.peer].map((port) => `https://${HOST}:${port}`);
  const certificate = (prefix: '' | 'peer-'): string[] => [
    `--${prefix}cert-file=${join(directory, 'server.crt')}`,
    `--${prefix}key-file=${join(directory, 'server.key')}`,
    `--${prefix}trusted-ca-file=${join(directory, 'ca.crt')}`,
  ];
  member = startCommand(
    ...['component', 'etcd', `--data-dir=${join(directory, `data-${(runs += 1)}`)}`],
    ...[`--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`],
    ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
    `--listen-metrics-urls=https://${HOST}:${PORTS.metrics}`,
    ...[...certificate(''), ...certificate('peer-'), ...flags],
  );
  await member.until(/"msg":"ready to serve client requests"/);
};

/** Protocol and suite of a handshake with a good certificate, or that there was none. */
const handshake = (port: number, options: ConnectionOptions): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: HOST, port, ...client, ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.once('error', () => resolve('rejected'));
  });
const onEveryPort = (options: ConnectionOptions): Promise<string[]> =>
  Promise.all(Object.values(PORTS).map((port) => handshake(port, options)));

/** What a read through the client listener comes to. */
const readAs = async (credentials: ConnectionOptions): Promise<string> => {
  const rpc = connectRpc(`https://${HOST}:${PORTS.client}`, credentials);
  try {
    await rpc.ready();
    await rpc.unary(RPC.range, { key: Buffer.from('k') });
    return 'served';
  } catch {
    return 'rejected';
  } finally {
    rpc.close();
  }
};

const times = (text: string): string[] => Object.values(PORTS).map(() => text);
const CBC_SHA1 = 'ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:AES128-SHA:@SECLEVEL=0';

test('by default TLS 1.2 without CBC and TLS 1.3 are spoken on every port', async () => {
  await start();
  const [tls12] = await onEveryPort({ maxVersion: 'TLSv1.2' });
  expect(tls12).toMatch(/^TLSv1\.2 ECDHE-\w+-AES128-GCM-SHA256$/);
  expect((await onEveryPort({})).every((spoken) => spoken.startsWith('TLSv1.3 '))).toBe(true);
  expect(await onEveryPort({ maxVersion: 'TLSv1.2', ciphers: CBC_SHA1 })).toEqual(times('rejected'));
  expect(
    await onEveryPort({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
  ).toEqual(times('rejected'));
});

test('an authority alone demands a certificate, and any of its certificates is accepted', async () => {
  await start();
  expect(await Promise.all([readAs({ ca: client.ca }), readAs(client)])).toEqual(['rejected', 'served']);
});

test('the oldest and the newest TLS are those of the flags, on every port', async () => {
  await start('--tls-max-version=TLS1.2');
  expect(await onEveryPort({ minVersion: 'TLSv1.3' })).toEqual(times('rejected'));
  expect((await onEveryPort({})).every((spoken) => spoken.startsWith('TLSv1.2 '))).toBe(true);
  await member!.kill('SIGKILL');
  await start('--tls-min-version=TLS1.3');
  expect(await onEveryPort({ maxVersion: 'TLSv1.2' })).toEqual(times('rejected'));
});

test('the suites are those of the flag', async () => {
  await start('--cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA');
  const spoken = await onEveryPort({ maxVersion: 'TLSv1.2', ciphers: 'ALL:@SECLEVEL=0' });
  for (const one of spoken) expect(one).toMatch(/^TLSv1\.2 ECDHE-\w+-AES256-SHA$/);
  const others = 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256';
  expect(await onEveryPort({ maxVersion: 'TLSv1.2', ciphers: others })).toEqual(times('rejected'));
});

test('only certificates for an allowed host name are served', async () => {
  await start('--client-cert-allowed-hostname=other.local,client.local');
  const stranger = { ca: client.ca, ...leaf('client', ['stranger.local']) };
  expect(await Promise.all([readAs(client), readAs(stranger)])).toEqual(['served', 'rejected']);
});

test('a revoked client certificate is rejected', async () => {
  const revoked = { ca: client.ca, ...leaf('client', ['client.local']) };
  const list = file('revoked.crl', revocationList(authority, revoked.cert));
  await start(`--client-crl-file=${list}`);
  expect(await Promise.all([readAs(client), readAs(revoked)])).toEqual(['served', 'rejected']);
});

test('a client whose certificate is not valid yet is rejected with one line that says so', async () => {
  // As a member sees every certificate when its clock is behind.
  const ahead = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 };
  const early = issueLeaf(authority, {
    clock: ahead,
    subject: { commonName: 'client' },
    usages: ['client'],
    alternativeNames: alternativeNames(['client.local']),
  });
  await start('--max-concurrent-streams=3');
  expect(await readAs({ ca: client.ca, cert: early.certificatePem, key: early.privateKeyPem })).toBe(
    'rejected',
  );
  await member!.until(/"rejected connection on client endpoint".*CERT_NOT_YET_VALID/);
  const session = connectHttp2(`https://${HOST}:${PORTS.client}`, client);
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
    session.once('remoteSettings', resolve),
  );
  session.destroy();
  expect(settings.maxConcurrentStreams).toBe(3);
});

test('a Unix socket is served beside a generated certificate, and taken over from a killed process', async () => {
  const [data, socketPath] = [join(directory, 'unix'), join(directory, 'etcd.sock')];
  const urls = [`unix://${socketPath}`, `https://${HOST}:${PORTS.client}`];
  const peerUrl = `https://${HOST}:${PORTS.peer}`;
  const run = async (): Promise<void> => {
    member = startCommand(
      ...['component', 'etcd', `--data-dir=${data}`, '--auto-tls', '--peer-auto-tls'],
      ...[`--listen-client-urls=${urls.join(',')}`, `--advertise-client-urls=${urls[0]}`],
      ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
    );
    await member.until(/"msg":"ready to serve client requests"/);
  };
  const viaSocket = (): Promise<string> =>
    new Promise((resolve, reject) => {
      get({ socketPath, path: '/version' }, (response) => {
        response.resume();
        resolve(String(response.statusCode));
      }).once('error', reject);
    });
  await run();
  const ca = readFileSync(join(data, 'fixtures', 'client', 'cert.pem'));
  expect([await viaSocket(), await readAs({ ca }), await readAs({})]).toEqual(['200', 'served', 'rejected']);
  await member!.kill('SIGKILL');
  await run();
  expect([await viaSocket(), await readAs({ ca })]).toEqual(['200', 'served']);
});

test('a client that pings too often gets ENHANCE_YOUR_CALM', async () => {
  await start('--grpc-keepalive-min-time=1h');
  const session = connectHttp2(`https://${HOST}:${PORTS.client}`, client);
  const goaway = new Promise<[number, string]>((resolve) =>
    session.once('goaway', (code, _id, data) => resolve([code, String(data)])),
  );
  session.on('error', () => undefined);
  await new Promise((resolve) => session.once('connect', resolve));
  for (let count = 0; count < 4; count += 1) session.ping(() => undefined);
  expect(await goaway).toEqual([constants.NGHTTP2_ENHANCE_YOUR_CALM, 'too_many_pings']);
  session.destroy();
});
