import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { manualClock } from '../base/manual-clock.ts';
import { alternativeNames } from './alternative-names.ts';
import { inspectPem } from './inspect.ts';
import { createAuthority, issueLeaf, openAuthority } from './issue.ts';

const clock = manualClock();
const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
const HOSTS = ['kubernetes', '10.96.0.1', 'kubernetes.default.svc', '::1', 'fd00::12:0:1', '10.96.0.1'];

test.each(['ECDSA-P256', 'RSA-2048'] as const)(
  '%s: OpenSSL reads a leaf as it was asked for',
  (keyAlgorithm) => {
    const root = createAuthority({ commonName: 'kubernetes', clock, keyAlgorithm });
    const leaf = issueLeaf(openAuthority(root), {
      subject: { commonName: 'system:node:cp-1', organizations: ['system:nodes', 'ünïcode'] },
      usages: ['server', 'client'],
      alternativeNames: alternativeNames(HOSTS),
      clock,
      keyAlgorithm,
    });
    const parsed = new X509Certificate(leaf.certificatePem);
    const issuer = new X509Certificate(root.certificatePem);
    expect({
      subject: parsed.subject,
      issuer: parsed.issuer,
      names: parsed.subjectAltName,
      keyUsage: parsed.keyUsage,
      ca: parsed.ca,
      signed: parsed.verify(issuer.publicKey),
      issued: parsed.checkIssued(issuer),
      from: Date.parse(parsed.validFrom),
      to: Date.parse(parsed.validTo),
      rootCa: issuer.ca,
      rootTo: Date.parse(issuer.validTo),
    }).toEqual({
      subject: 'O=system:nodes\nO=ünïcode\nCN=system:node:cp-1',
      issuer: 'CN=kubernetes',
      names:
        'DNS:kubernetes, DNS:kubernetes.default.svc, IP Address:10.96.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:12:0:1',
      keyUsage: ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'],
      ca: false,
      signed: true,
      issued: true,
      from: clock.nowMs() - 5 * MINUTE_MS,
      to: clock.nowMs() + 365 * DAY_MS,
      rootCa: true,
      rootTo: clock.nowMs() + 3650 * DAY_MS,
    });
  },
);

test('an issued certificate parses to the same fields', () => {
  const root = createAuthority({ commonName: 'etcd-ca', clock });
  const leaf = issueLeaf(openAuthority(root), {
    subject: { commonName: 'etcd-1', organizations: ['a', 'b'] },
    usages: ['client'],
    alternativeNames: alternativeNames(HOSTS),
    clock,
  });
  const own = inspectPem(leaf.certificatePem);
  const authority = inspectPem(root.certificatePem);
  const { serialNumber, fingerprint256 } = new X509Certificate(leaf.certificatePem);
  expect(own).toMatchObject({
    subject: { commonName: 'etcd-1', organizations: ['a', 'b'] },
    issuer: { commonName: 'etcd-ca', organizations: [] },
    usages: ['client'],
    alternativeNames: {
      dnsNames: ['kubernetes', 'kubernetes.default.svc'],
      ipAddresses: ['10.96.0.1', '::1', 'fd00::12:0:1'],
    },
    isAuthority: false,
    serialNumber: serialNumber.toLowerCase(),
    fingerprint256: fingerprint256.replaceAll(':', '').toLowerCase(),
    authorityKeyId: authority.subjectKeyId,
  });
  expect(authority.isAuthority).toBe(true);
});

test('a leaf never outlives its authority', () => {
  const root = createAuthority({ commonName: 'short', clock, validityMs: DAY_MS });
  const leaf = issueLeaf(openAuthority(root), { subject: { commonName: 'x' }, usages: ['client'], clock });
  expect(inspectPem(leaf.certificatePem).notAfterMs).toBe(clock.nowMs() + DAY_MS);
});

test('serial numbers are random, positive and of 128 bits', () => {
  const root = openAuthority(createAuthority({ commonName: 'r', clock }));
  const serials = Array.from({ length: 32 }, () => {
    const leaf = issueLeaf(root, { subject: { commonName: 'x' }, usages: ['client'], clock });
    return BigInt(`0x${inspectPem(leaf.certificatePem).serialNumber}`);
  });
  expect(new Set(serials).size).toBe(32);
  expect(serials.some((serial) => serial >= 1n << 120n)).toBe(true);
  expect(serials.every((serial) => serial > 0n && serial < 1n << 128n)).toBe(true);
});
