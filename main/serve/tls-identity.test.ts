import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { ensureTlsIdentity, type TlsIdentity } from './tls-identity.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = manualClock();
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-identity-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const ensure = (): Promise<TlsIdentity> =>
  ensureTlsIdentity({ dataDirectory: directory, clock, log: silentLog });

test('the identity is created once, privately, and kept', async () => {
  const first = await ensure();
  expect(await ensure()).toEqual(first);
  const leaf = new X509Certificate(first.certificatePem);
  expect(leaf.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect(leaf.verify(new X509Certificate(first.authorityPem).publicKey)).toBe(true);
  if (process.platform === 'win32') return;
  const modes = ['serve', 'serve/ca.key', 'serve/server.key'].map(
    (name) => statSync(join(directory, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600]);
});

test('a certificate near its end is renewed by the same authority', async () => {
  const first = await ensure();
  clock.advance(340 * DAY_MS);
  const second = await ensure();
  expect(second.authorityPem).toBe(first.authorityPem);
  expect(Date.parse(new X509Certificate(second.certificatePem).validTo)).toBe(clock.nowMs() + 365 * DAY_MS);
});

test('a key that does not fit, and a damaged authority, are replaced', async () => {
  const first = await ensure();
  writeFileSync(join(directory, 'serve/server.key'), readFileSync(join(directory, 'serve/ca.key')));
  const second = await ensure();
  expect([
    second.authorityPem === first.authorityPem,
    second.certificatePem === first.certificatePem,
  ]).toEqual([true, false]);
  writeFileSync(join(directory, 'serve/ca.crt'), 'garbage');
  const third = await ensure();
  const leaf = new X509Certificate(third.certificatePem);
  expect(leaf.verify(new X509Certificate(third.authorityPem).publicKey)).toBe(true);
  expect(third.authorityPem).not.toBe(first.authorityPem);
});
