import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Disposable } from '../../base/disposable.ts';
import { silentLog, type Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { KubeletServer } from '../../kubelet/server/kubelet-server.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { followServing, loadServing, servingFilesOf, type ServingFiles } from './kubelet-serving.ts';

const authority = createAuthority({ commonName: 'test-ca', clock: systemClock });
const issue = (commonName: string) =>
  issueLeaf(openAuthority(authority), {
    subject: { commonName },
    usages: ['server'],
    alternativeNames: alternativeNames(['127.0.0.1']),
    clock: systemClock,
  });

let folder: string;
let files: ServingFiles;
let following: Disposable | undefined;
let server: KubeletServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-serving-'));
  files = servingFilesOf(folder, 'cp-1');
  for (const path of [files.certFile, files.caFile]) mkdirSync(dirname(path), { recursive: true });
  writeFileSync(files.caFile, authority.certificatePem);
  install(issue('first'));
  server = new KubeletServer({
    eventRate: { qps: 50, burst: 100 },
    clock: systemClock,
    log: silentLog,
    registry: new Registry(),
    tls: await loadServing(files),
    auth: () => ({
      reviewToken: () => Promise.resolve(undefined),
      isAllowed: () => Promise.resolve(false),
    }),
    nodeAt: () => undefined,
  });
});
afterEach(async () => {
  following?.dispose();
  await server.close();
  rmSync(folder, { recursive: true });
});

const install = ({ certificatePem, privateKeyPem }: ReturnType<typeof issue>): void => {
  writeFileSync(files.keyFile, privateKeyPem);
  writeFileSync(files.certFile, certificatePem);
};

/** Resolves with the first line of the log that tells what became of a renewal. */
const follow = (): Promise<string> =>
  new Promise((resolve) => {
    const log: Log = { ...silentLog, write: (_level, message) => resolve(message) };
    following = followServing(files, server, { clock: systemClock, log });
  });

const servedName = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificatePem }, () => {
      const { subject } = socket.getPeerCertificate() as PeerCertificate;
      socket.destroy();
      resolve(String(subject.CN));
    });
    socket.once('error', reject);
  });

test('a renewed certificate is served without a restart', async () => {
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const before = await servedName(port);
  const told = follow();
  install(issue('second'));
  expect([before, await told, await servedName(port)]).toEqual([
    'first',
    'reloaded renewed certificates',
    'second',
  ]);
});

test('a certificate without its key is reported, and the old one stays', async () => {
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const told = follow();
  writeFileSync(files.certFile, issue('second').certificatePem);
  expect([await told, await servedName(port)]).toEqual([
    'cannot use the renewed certificate; keeping the old one',
    'first',
  ]);
});
