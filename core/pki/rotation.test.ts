import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock, type ManualClock } from '../base/manual-clock.ts';
import { createClusterPki } from './cluster-pki.ts';
import { inspectBundle } from './inspect.ts';
import { findCertificate, listCertificates, listExpiry, type InventoryItem } from './inventory.ts';
import { readKubeconfig } from './kubeconfig.ts';
import { certificatePath, keyPath, kubeconfigPath, readBundle } from './pki-folder.ts';
import { renewDue } from './due-renewal.ts';
import { renewAll, renewCertificate } from './renewal.ts';
import { cancelRotation, finishRotation, rotationPhase, startRotation, switchAuthority } from './rotation.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const host = { name: 'cp-1', addresses: ['127.7.0.1'] };
let directory: string;
let clock: ManualClock;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-rotation-'));
  clock = manualClock();
  await createClusterPki(
    {
      clusterName: 'kubernetes',
      controlPlanes: [host],
      etcdMembers: [host],
      nodes: [host],
      endpoint: { host: '127.7.0.100', port: 6443 },
      serviceAddress: '10.96.0.1',
    },
    directory,
    clock,
  );
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const identityOf = ({ certificate }: InventoryItem) => {
  const { subject, usages, alternativeNames } = certificate;
  return { subject, usages, alternativeNames };
};

test('expiry is listed soonest first, leaves and authorities, with what is left', async () => {
  clock.advance(10 * DAY_MS);
  await renewCertificate(directory, 'apiserver-etcd-client', clock);
  const expiry = await listExpiry(directory, clock);
  expect(expiry).toHaveLength(8 + 10 + 3);
  expect(expiry.find(({ name }) => name === 'apiserver-etcd-client')).toEqual({
    name: 'apiserver-etcd-client',
    file: certificatePath(directory, 'apiserver-etcd-client'),
    authority: 'etcd',
    isAuthority: false,
    notAfterMs: clock.nowMs() + 365 * DAY_MS,
    residualMs: 365 * DAY_MS,
  });
  expect(expiry[0]?.residualMs).toBe(355 * DAY_MS);
  expect(
    expiry.slice(-3).map(({ name, isAuthority, residualMs }) => [name, isAuthority, residualMs / DAY_MS]),
  ).toEqual([
    ['ca', true, 3640],
    ['etcd/ca', true, 3640],
    ['front-proxy-ca', true, 3640],
  ]);
  clock.advance(400 * DAY_MS);
  expect((await listExpiry(directory, clock))[0]?.residualMs).toBeLessThan(0);
});

test('renewal keeps who it is for, and changes key, serial number and end', async () => {
  const before = await listCertificates(directory);
  clock.advance(100 * DAY_MS);
  const names = await renewAll(directory, clock);
  const after = await listCertificates(directory);
  expect(names).toEqual(before.map(({ name }) => name));
  expect(after.map(identityOf)).toEqual(before.map(identityOf));
  after.forEach(({ certificate, authority }, index) => {
    const old = before[index];
    expect(authority).toBe(old?.authority);
    expect(certificate.serialNumber).not.toBe(old?.certificate.serialNumber);
    expect(certificate.subjectKeyId).not.toBe(old?.certificate.subjectKeyId);
    expect(certificate.notAfterMs).toBe(clock.nowMs() + 365 * DAY_MS);
  });
});

test('renewing a kubeconfig leaves what the user wrote into it', async () => {
  const path = kubeconfigPath(directory, 'admin.conf');
  writeFileSync(
    path,
    `# mine\n${readFileSync(path, 'utf8').replace('user: kubernetes-admin', 'user: kubernetes-admin\n      namespace: team')}`,
  );
  await renewCertificate(directory, 'admin.conf', clock);
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(/^# mine\n/);
  expect(text).toContain('namespace: team');
});

test('without the key of its authority nothing is renewed, and the reason says so', async () => {
  rmSync(keyPath(directory, 'ca'));
  const error: unknown = await renewCertificate(directory, 'admin.conf', clock).catch((e: unknown) => e);
  expect(error).toMatchObject({ reason: 'KeyMissing' });
  await renewCertificate(directory, 'apiserver-etcd-client', clock);
});

test('a name that is not there is not found', async () => {
  const error: unknown = await renewCertificate(directory, 'nobody', clock).catch((e: unknown) => e);
  expect(error).toMatchObject({ reason: 'NotFound' });
});

test('rotation: trusted beside, then signing, then alone', async () => {
  const [old] = inspectBundle(await readBundle(directory, 'kubernetes'));
  const bundleIds = async (): Promise<(string | undefined)[]> =>
    inspectBundle(await readBundle(directory, 'kubernetes')).map(({ subjectKeyId }) => subjectKeyId);
  const signerOf = async (name: string): Promise<string | undefined> =>
    (await findCertificate(directory, name)).certificate.authorityKeyId;
  const inKubeconfig = (): string => {
    const path = kubeconfigPath(directory, 'scheduler.conf');
    return readKubeconfig(readFileSync(path, 'utf8'), path).authorityPem;
  };
  clock.advance(DAY_MS);

  await startRotation(directory, 'kubernetes', clock);
  const [first, successor] = await bundleIds();
  expect([first, await rotationPhase(directory, 'kubernetes')]).toEqual([old?.subjectKeyId, 'overlapping']);
  expect(await signerOf('hosts/cp-1/apiserver')).toBe(old?.subjectKeyId);
  expect(inKubeconfig()).toBe(await readBundle(directory, 'kubernetes'));
  await renewCertificate(directory, 'admin.conf', clock);
  expect(await signerOf('admin.conf')).toBe(old?.subjectKeyId);

  const renewed = await switchAuthority(directory, 'kubernetes', clock);
  expect(await rotationPhase(directory, 'kubernetes')).toBe('switched');
  expect(await bundleIds()).toEqual([successor, old?.subjectKeyId]);
  expect(renewed).toContain('hosts/cp-1/apiserver');
  expect(renewed).not.toContain('apiserver-etcd-client');
  expect([await signerOf('hosts/cp-1/apiserver'), await signerOf('admin.conf')]).toEqual([
    successor,
    successor,
  ]);

  await finishRotation(directory, 'kubernetes');
  expect(await rotationPhase(directory, 'kubernetes')).toBe('settled');
  expect(await bundleIds()).toEqual([successor]);
  expect(inKubeconfig()).toBe(await readBundle(directory, 'kubernetes'));
  expect((await listCertificates(directory)).every(({ authority }) => authority !== undefined)).toBe(true);
});

test('a rotation does not finish while a leaf depends on the old authority', async () => {
  const path = certificatePath(directory, 'front-proxy-client');
  const old = readFileSync(path);
  await startRotation(directory, 'front-proxy', clock);
  await switchAuthority(directory, 'front-proxy', clock);
  writeFileSync(path, old);
  expect(await finishRotation(directory, 'front-proxy').catch((e: unknown) => e)).toMatchObject({
    reason: 'WrongPhase',
  });
  await renewAll(directory, clock, { authority: 'front-proxy' });
  await finishRotation(directory, 'front-proxy');
  expect(await rotationPhase(directory, 'front-proxy')).toBe('settled');
});

test('steps out of order are refused, and a rotation can be given up before the switch', async () => {
  const before = await readBundle(directory, 'etcd');
  const refused = { reason: 'WrongPhase' };
  expect(await switchAuthority(directory, 'etcd', clock).catch((e: unknown) => e)).toMatchObject(refused);
  expect(await finishRotation(directory, 'etcd').catch((e: unknown) => e)).toMatchObject(refused);
  await startRotation(directory, 'etcd', clock);
  expect(await startRotation(directory, 'etcd', clock).catch((e: unknown) => e)).toMatchObject(refused);
  await cancelRotation(directory, 'etcd');
  expect([await readBundle(directory, 'etcd'), await rotationPhase(directory, 'etcd')]).toEqual([
    before,
    'settled',
  ]);
});

test('a start that lost its key in a crash is cleared away by finishing', async () => {
  const before = await readBundle(directory, 'etcd');
  await startRotation(directory, 'etcd', clock);
  rmSync(keyPath(directory, 'etcd/ca-next'));
  await finishRotation(directory, 'etcd');
  expect(await readBundle(directory, 'etcd')).toBe(before);
});

test('certificates are renewed when a fifth of their time is left, and none of an authority that is being rotated', async () => {
  const serials = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await listCertificates(directory)).map(({ name, certificate }) => [name, certificate.serialNumber]),
    );
  const first = await serials();
  clock.advance(290 * DAY_MS);
  expect(await renewDue(directory, clock)).toEqual([]);
  await startRotation(directory, 'etcd', clock);
  clock.advance(5 * DAY_MS);
  const renewed = await renewDue(directory, clock);
  const etcd = (await listCertificates(directory)).filter(({ authority }) => authority === 'etcd');
  expect(etcd.length).toBeGreaterThan(0);
  expect([...renewed].sort()).toEqual(
    Object.keys(first)
      // Kubelets renew theirs themselves, through the API.
      .filter((name) => !etcd.some((item) => item.name === name) && !name.startsWith('kubelet-'))
      .sort(),
  );
  const second = await serials();
  for (const name of Object.keys(first)) expect(second[name] !== first[name]).toBe(renewed.includes(name));
  expect(await renewDue(directory, clock)).toEqual([]);
});
