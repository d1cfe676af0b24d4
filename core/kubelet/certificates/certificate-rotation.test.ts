import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { CERTIFICATE_SIGNING_REQUEST } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import {
  createAuthority,
  issueFor,
  issueLeaf,
  openAuthority,
  parseRequestPem,
  type Credential,
} from '../../pki/index.ts';
import { CertificateRotation } from './certificate-rotation.ts';

const HOUR_MS = 3_600_000;
const SUBJECT = { commonName: 'system:node:n1', organizations: ['system:nodes'] };

const fixture = () => {
  const api = new FakeApi();
  const { clock } = api;
  const authority = openAuthority(createAuthority({ commonName: 'kubernetes', clock }));
  const leaf = { subject: SUBJECT, usages: ['client' as const], clock, validityMs: 100 * HOUR_MS };
  const saved: Credential[] = [issueLeaf(authority, leaf)];
  const rotation = new CertificateRotation({
    clock,
    random: api.random,
    log: silentLog,
    client: api.client(),
    wish: { signerName: 's', usages: ['digital signature', 'client auth'], subject: SUBJECT },
    current: () => Promise.resolve(saved.at(-1)?.certificatePem),
    save: (credential) => Promise.resolve(void saved.push(credential)),
  });
  onTestFinished(() => rotation.dispose());
  const pass = async (hours: number): Promise<void> => {
    await api.settle();
    clock.advance(hours * HOUR_MS);
    await api.settle();
  };
  const requests = () => api.list(CERTIFICATE_SIGNING_REQUEST);
  /** As the controllers do, with what was asked for. */
  const sign = async (): Promise<void> => {
    const { metadata, spec } = requests().at(-1)!;
    const { publicKey } = parseRequestPem(Buffer.from(spec.request, 'base64').toString());
    const certificate = Buffer.from(issueFor(authority, publicKey, leaf)).toString('base64');
    api.edit(CERTIFICATE_SIGNING_REQUEST, metadata.name, (csr) => (csr.status = { certificate }));
    await pass(1 / 360);
  };
  return { api, rotation, saved, pass, requests, sign };
};

test('a certificate is replaced through the API when most of its time is over', async () => {
  const { rotation, saved, pass, requests, sign } = fixture();
  rotation.start();
  for (let day = 0; day < 2; day += 1) await pass(24);
  await pass(20);
  expect(requests()).toEqual([]);
  await pass(23);
  expect(requests().map(({ spec }) => [spec.signerName, spec.usages])).toEqual([
    ['s', ['digital signature', 'client auth']],
  ]);
  await sign();
  expect(saved).toHaveLength(2);
  await pass(24);
  expect(requests()).toHaveLength(1);
});

test('a denied request is retried later', async () => {
  const { api, rotation, saved, pass, requests, sign } = fixture();
  saved.length = 0;
  rotation.start();
  await pass(0);
  const denied = { type: 'Denied', status: 'True', message: 'no' };
  const { name } = requests()[0]!.metadata;
  api.edit(CERTIFICATE_SIGNING_REQUEST, name, (csr) => (csr.status = { conditions: [denied] }));
  await pass(1 / 360);
  await pass(1 / 360);
  expect(requests()).toHaveLength(2);
  await sign();
  expect(saved).toHaveLength(1);
});
