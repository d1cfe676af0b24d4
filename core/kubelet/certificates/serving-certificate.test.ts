import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { CERTIFICATE_SIGNING_REQUEST } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import {
  createAuthority,
  issueFor,
  openAuthority,
  parseRequestPem,
  type Credential,
} from '../../pki/index.ts';
import { servedBefore, servingRotation } from './serving-certificate.ts';

test('a signed serving certificate is kept, and found again with its key', async () => {
  const certDir = await mkdtemp(join(tmpdir(), 'serving-'));
  onTestFinished(() => rm(certDir, { recursive: true }));
  const api = new FakeApi();
  const { clock } = api;
  const options = { certDir, nodeName: 'n1', nodeIP: '192.0.2.1', clock };
  const used: Credential[] = [];
  const use = (credential: Credential): void => void used.push(credential);
  const rotation = servingRotation({ ...options, client: api.client(), log: silentLog, use });
  onTestFinished(() => rotation.dispose());
  rotation.start();
  await expect.poll(() => api.list(CERTIFICATE_SIGNING_REQUEST).length).toBe(1);
  const { metadata, spec } = api.list(CERTIFICATE_SIGNING_REQUEST)[0]!;
  const authority = openAuthority(createAuthority({ commonName: 'kubernetes', clock }));
  const { publicKey, subject } = parseRequestPem(Buffer.from(spec.request, 'base64').toString());
  const pem = issueFor(authority, publicKey, { subject, usages: ['server'], clock });
  const certificate = Buffer.from(pem).toString('base64');
  api.edit(CERTIFICATE_SIGNING_REQUEST, metadata.name, (csr) => (csr.status = { certificate }));
  await expect
    .poll(async () => {
      await api.advance(1_000, 100);
      return used.length;
    })
    .toBe(1);
  expect(await servedBefore(options)).toEqual({
    certificatePem: expect.stringContaining('BEGIN CERTIFICATE') as string,
    privateKeyPem: used[0]!.privateKeyPem,
  });
});
