import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { formatTime } from '../../api/meta/index.ts';
import { CERTIFICATE_SIGNING_REQUEST, NODE, type CertificateSigningRequest } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { alternativeNames, createAuthority, createRequest, generateKey } from '../../pki/index.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import type { ControllerSettings } from '../config/config.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { createApprover, csrApprover, type MayCreate } from './approver.ts';
import { csrCleaner } from './cleaner.ts';
import { SIGNERS } from './kubelet-requests.ts';
import { csrSigner } from './signer.ts';

interface Wanted {
  readonly signer?: string;
  readonly usages?: string[];
  readonly organization?: string;
  readonly hosts?: string[];
  readonly username?: string;
  readonly seconds?: number;
  readonly approved?: boolean;
}

const csr = (name: string, wanted: Wanted = {}): CertificateSigningRequest => {
  const pem = createRequest(generateKey(), {
    subject: { commonName: 'system:node:n1', organizations: [wanted.organization ?? 'system:nodes'] },
    ...(wanted.hosts && { alternativeNames: alternativeNames(wanted.hosts) }),
  });
  return {
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: wanted.signer ?? SIGNERS.kubeletClient,
      usages: wanted.usages ?? ['digital signature', 'client auth'],
      username: wanted.username ?? 'system:node:n1',
      ...(wanted.seconds !== undefined && { expirationSeconds: wanted.seconds }),
    },
    ...(wanted.approved && { status: { conditions: [{ type: 'Approved', status: 'True' }] } }),
  };
};
const conditions = (api: FakeApi, name: string) =>
  (api.get(CERTIFICATE_SIGNING_REQUEST, name).status?.conditions ?? []).map(({ type, reason, message }) => [
    type,
    reason,
    message,
  ]);

const approver = (mayCreate: MayCreate): ControllerDefinition<ControllerSettings> => ({
  ...csrApprover,
  create: (context) => createApprover(context, mayCreate),
});

test('a kubelet that may is approved: for itself, or for a node', async () => {
  const api = new FakeApi();
  api.seed(
    CERTIFICATE_SIGNING_REQUEST,
    csr('self'),
    csr('bootstrap', { username: 'system:bootstrap:abc' }),
    csr('other', { organization: 'system:masters' }),
    csr('serving', {
      signer: SIGNERS.kubeletServing,
      usages: ['digital signature', 'server auth'],
      hosts: ['n1'],
    }),
  );
  const running = await startOnFake(
    api,
    approver(() => Promise.resolve(true)),
  );
  expect(['self', 'bootstrap', 'other', 'serving'].map((name) => conditions(api, name))).toEqual([
    [
      [
        'Approved',
        'AutoApproved',
        'Auto approving self kubelet client certificate after SubjectAccessReview.',
      ],
    ],
    [['Approved', 'AutoApproved', 'Auto approving kubelet client certificate after SubjectAccessReview.']],
    [],
    [],
  ]);
  await running.stop();
});

test('a serving certificate is approved for addresses that belong to its node and to no other', async () => {
  const api = new FakeApi();
  const node = (name: string, ...addresses: string[]) => ({
    metadata: { name },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  });
  api.seed(NODE, node('n1', '192.0.2.1', '192.0.2.9'), node('n2', '192.0.2.2', '192.0.2.9'));
  const serving = (name: string, hosts: string[], wanted: Wanted = {}) =>
    csr(name, {
      signer: SIGNERS.kubeletServing,
      usages: ['digital signature', 'server auth'],
      hosts,
      ...wanted,
    });
  const requests = [
    serving('own', ['n1', '192.0.2.1']),
    serving('foreign', ['n1', '192.0.2.2']),
    serving('shared', ['n1', '192.0.2.9']),
    serving('name', ['n2']),
    serving('by-other', ['n1', '192.0.2.1'], { username: 'system:node:n2' }),
  ];
  api.seed(CERTIFICATE_SIGNING_REQUEST, ...requests);
  const running = await startOnFake(
    api,
    approver((_, subresource) => Promise.resolve(subresource === 'selfnodeserver')),
  );
  const approved = requests.filter(({ metadata }) => conditions(api, metadata!.name!).length > 0);
  expect(approved.map(({ metadata }) => metadata?.name)).toEqual(['own']);
  await running.stop();
});

test('a component of a node is approved by its exact name, and without groups', async () => {
  const api = new FakeApi();
  const component = (name: string, commonName: string, organizations: string[] = []) => {
    const pem = createRequest(generateKey(), { subject: { commonName, organizations } });
    const base = csr(name, { signer: SIGNERS.apiServerClient });
    return { ...base, spec: { ...base.spec, request: Buffer.from(pem).toString('base64') } };
  };
  api.seed(
    CERTIFICATE_SIGNING_REQUEST,
    component('proxy', 'system:kube-proxy'),
    component('admin', 'kubernetes-admin'),
    component('masters', 'system:kube-proxy', ['system:masters']),
  );
  const asked: string[] = [];
  const running = await startOnFake(
    api,
    approver((_, subresource) => {
      asked.push(subresource);
      return Promise.resolve(true);
    }),
  );
  const decided = ['proxy', 'admin', 'masters'].map((name) => conditions(api, name).length);
  expect([decided, asked]).toEqual([[1, 0, 0], ['nodecomponentclient']]);
  await running.stop();
});

test('one that may not is asked about again later', async () => {
  const api = new FakeApi();
  api.seed(CERTIFICATE_SIGNING_REQUEST, csr('self'));
  let allowed = false;
  const asked: string[] = [];
  const running = await startOnFake(
    api,
    approver((_, subresource) => {
      asked.push(subresource);
      return Promise.resolve(allowed);
    }),
  );
  expect([asked, conditions(api, 'self')]).toEqual([['selfnodeclient', 'nodeclient'], []]);
  allowed = true;
  await api.advance(1_000, 100);
  expect(conditions(api, 'self').length).toBe(1);
  await running.stop();
});

const signing = async (api: FakeApi) => {
  const folder = await mkdtemp(join(tmpdir(), 'csr-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const pair = createAuthority({ commonName: 'kubernetes', clock: api.clock });
  const [certFile, keyFile] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  await writeFile(certFile, pair.certificatePem);
  await writeFile(keyFile, pair.privateKeyPem);
  const running = await startOnFake(api, csrSigner, {
    'cluster-signing-cert-file': certFile,
    'cluster-signing-key-file': keyFile,
  });
  onTestFinished(() => running.stop());
  return new X509Certificate(pair.certificatePem);
};

test('only approved requests are signed, for the requested duration', async () => {
  const api = new FakeApi();
  api.seed(
    CERTIFICATE_SIGNING_REQUEST,
    csr('good', { approved: true, seconds: 3600 }),
    csr('pending'),
    csr('foreign', { approved: true, signer: 'example.com/signer' }),
  );
  const authority = await signing(api);
  const certificate = (name: string) => api.get(CERTIFICATE_SIGNING_REQUEST, name).status?.certificate;
  await expect.poll(() => certificate('good')).toBeDefined();
  const signed = new X509Certificate(Buffer.from(certificate('good')!, 'base64'));
  expect([signed.subject, signed.checkIssued(authority), signed.verify(authority.publicKey)]).toEqual([
    'O=system:nodes\nCN=system:node:n1',
    true,
    true,
  ]);
  expect(Date.parse(signed.validTo) - api.clock.nowMs()).toBe(3_600_000);
  expect([certificate('pending'), certificate('foreign')]).toEqual([undefined, undefined]);
});

test.each([
  [{ organization: 'x' }, 'subject organization is not system:nodes'],
  [{ hosts: ['n1'] }, 'DNS subjectAltNames are not allowed'],
  [{ usages: ['server auth'] }, 'usages did not match [client auth digital signature key encipherment]'],
  [{ signer: SIGNERS.kubeletServing, usages: ['server auth'] }, 'DNS or IP subjectAltName is required'],
  [
    { signer: SIGNERS.apiServerClient, usages: ['server auth'] },
    'invalid usage for client certificate: server auth',
  ],
])('an approved request %j fails: %s', async (wanted, message) => {
  const api = new FakeApi();
  api.seed(CERTIFICATE_SIGNING_REQUEST, csr('a', { ...wanted, approved: true }));
  await signing(api);
  await expect.poll(() => conditions(api, 'a')[1]).toEqual(['Failed', 'SignerValidationFailure', message]);
});

test('spent requests go', async () => {
  const api = new FakeApi();
  const hoursAgo = (hours: number) => formatTime(api.clock.nowMs() - hours * 3_600_000 - 1000);
  const decided = (
    name: string,
    type: string,
    hours: number,
    certificate?: string,
  ): CertificateSigningRequest => ({
    ...csr(name),
    status: {
      conditions: [{ type, status: 'True', lastUpdateTime: hoursAgo(hours) }],
      ...(certificate && { certificate }),
    },
  });
  const { certificatePem } = createAuthority({ commonName: 'x', clock: api.clock });
  const certificate = Buffer.from(certificatePem).toString('base64');
  api.seed(
    CERTIFICATE_SIGNING_REQUEST,
    { ...csr('ignored'), metadata: { name: 'ignored', creationTimestamp: hoursAgo(24) } },
    { ...csr('new'), metadata: { name: 'new', creationTimestamp: hoursAgo(23) } },
    decided('denied', 'Denied', 1),
    decided('issued', 'Approved', 1, certificate),
    decided('unsigned', 'Approved', 1),
  );
  const running = await startOnFake(api, csrCleaner);
  expect(api.list(CERTIFICATE_SIGNING_REQUEST).map(({ metadata }) => metadata.name)).toEqual([
    'new',
    'unsigned',
  ]);
  await running.stop();
});

test('a signer with files of its own signs with them, and the others do not sign', async () => {
  const api = new FakeApi();
  const folder = await mkdtemp(join(tmpdir(), 'csr-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const pair = createAuthority({ commonName: 'clients', clock: api.clock });
  const [certFile, keyFile] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  await writeFile(certFile, pair.certificatePem);
  await writeFile(keyFile, pair.privateKeyPem);
  api.seed(
    CERTIFICATE_SIGNING_REQUEST,
    csr('client', { approved: true }),
    csr('legacy', { approved: true, signer: 'kubernetes.io/legacy-unknown' }),
  );
  const running = await startOnFake(api, csrSigner, {
    'cluster-signing-kube-apiserver-client-cert-file': certFile,
    'cluster-signing-kube-apiserver-client-key-file': keyFile,
    'cluster-signing-kubelet-client-cert-file': certFile,
    'cluster-signing-kubelet-client-key-file': keyFile,
  });
  onTestFinished(() => running.stop());
  const certificate = (name: string) => api.get(CERTIFICATE_SIGNING_REQUEST, name).status?.certificate;
  await expect.poll(() => certificate('client')).toBeDefined();
  const signed = new X509Certificate(Buffer.from(certificate('client')!, 'base64'));
  expect(signed.checkIssued(new X509Certificate(pair.certificatePem))).toBe(true);
  expect(certificate('legacy')).toBeUndefined();
});
