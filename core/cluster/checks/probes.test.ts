import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttps, type Server } from 'node:https';
import { createServer as createNet, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { tlsSettings } from '../../base/node/tls-settings.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { inEnglish } from '../../contract/index.ts';
import { openPaths } from './items/anonymous-paths.ts';
import { socketFaults } from './items/control-socket.ts';
import { exposedFiles } from '../data-folder/exposed-files.ts';
import { kubeletFaults } from './items/kubelet-access.ts';
import { weaknessesOf } from './tls-probe.ts';

/** Each exposure is made here, and must be seen. */
const HOST = '127.0.0.1';
const uid = process.getuid?.() ?? 0;
const authority = createAuthority({ commonName: 'kubernetes', clock: systemClock });
const ca = authority.certificatePem;
const issue = (usage: 'client' | 'server') => {
  const { certificatePem, privateKeyPem } = issueLeaf(openAuthority(authority), {
    subject: { commonName: 'system:kube-scheduler' },
    usages: [usage],
    alternativeNames: alternativeNames([HOST]),
    clock: systemClock,
  });
  return { cert: certificatePem, key: privateKeyPem };
};

const closing: (() => Promise<void> | void)[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-probes-'));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(folder, { recursive: true });
});

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

const weaknesses = async (tls: object): Promise<readonly string[]> => {
  const port = await listen(createHttps({ ...issue('server'), ...tls }));
  return weaknessesOf({ host: HOST, port });
};

test('a server with CBC suites or TLS 1.1 is seen, and one with the default settings is not', async () => {
  expect(await weaknesses(tlsSettings())).toEqual([]);
  expect(await weaknesses(tlsSettings({ cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA'] }))).toEqual([
    'TLSv1.2 ECDHE-ECDSA-AES128-SHA',
  ]);
  const old = await weaknesses({ minVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' });
  expect(old.map((text) => text.split(' ')[0])).toEqual(['TLSv1.2', 'TLSv1.1']);
});

/** Answers by what the caller shows. */
const serverFor = (statusOf: (path: string, isKnown: boolean) => number): Promise<number> =>
  listen(
    createHttps(
      { ...issue('server'), ca, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const { authorized } = request.socket as unknown as { authorized: boolean };
        response.writeHead(statusOf(request.url ?? '', authorized)).end('x');
      },
    ),
  );

test.each<[string, (path: string, isKnown: boolean) => number, readonly RegExp[]]>([
  ['anonymous authentication', () => 200, [/without credentials/, /without permission on nodes/]],
  [
    'authorization mode AlwaysAllow',
    (_path, isKnown) => (isKnown ? 200 : 401),
    [/\/pods.* to a certificate without permission on nodes/],
  ],
  ['Webhook', (_path, isKnown) => (isKnown ? 403 : 401), []],
])('a kubelet with %s', async (_what, statusOf, expected) => {
  const origin = `https://${HOST}:${await serverFor(statusOf)}`;
  const faults = await kubeletFaults({
    node: 'worker-1',
    origin,
    anonymous: { ca },
    stranger: { ca, ...issue('client') },
  });
  expect(faults.map(inEnglish)).toEqual(expected.map((text) => expect.stringMatching(text) as unknown));
});

test('paths that are answered to anybody are named', async () => {
  const port = await serverFor((path) => (path === '/version' || path === '/openapi/v2' ? 200 : 403));
  expect(await openPaths(`https://${HOST}:${port}`, ca)).toEqual(['/openapi/v2', '/version']);
});

test('a key, a database and a folder that others may read are named; certificates are public', async () => {
  for (const path of ['pki', 'kubeconfig', 'hosts/cp-1/etcd'])
    mkdirSync(join(folder, path), { recursive: true, mode: 0o700 });
  const write = (path: string, mode: number): void => {
    writeFileSync(join(folder, path), '');
    chmodSync(join(folder, path), mode);
  };
  write('pki/ca.key', 0o600);
  write('pki/ca.crt', 0o644);
  write('kubeconfig/admin.conf', 0o600);
  write('hosts/cp-1/etcd/db', 0o600);
  expect(await exposedFiles(folder, uid)).toEqual([]);
  write('pki/ca.key', 0o640);
  write('hosts/cp-1/etcd/db', 0o644);
  chmodSync(join(folder, 'kubeconfig'), 0o755);
  expect((await exposedFiles(folder, uid)).map(inEnglish)).toEqual([
    'pki/ca.key has mode 640',
    'kubeconfig has mode 755',
    'hosts/cp-1/etcd/db has mode 644',
  ]);
  expect((await exposedFiles(folder, uid + 1)).map(inEnglish)).toContain(`pki/ca.key belongs to user ${uid}`);
});

test('a control socket that others may open, or replace, is named', async () => {
  const socket = join(folder, 'control.sock');
  const server = createNet();
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  closing.push(() => void server.close());
  chmodSync(socket, 0o600);
  expect(await socketFaults(socket, uid)).toEqual([]);
  chmodSync(socket, 0o666);
  chmodSync(folder, 0o777);
  expect((await socketFaults(socket, uid)).map(inEnglish)).toEqual([
    `${socket} has mode 666`,
    `${folder} has mode 777`,
  ]);
});
