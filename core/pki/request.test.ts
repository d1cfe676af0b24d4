import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manualClock } from '../base/manual-clock.ts';
import { seededRandom } from '../base/random.ts';
import { alternativeNames } from './alternative-names.ts';
import { PkiError } from './errors.ts';
import { createAuthority, issueFor, openAuthority } from './issue.ts';
import { generateKey, privateKeyPem } from './keys.ts';
import { fromPem, toPem } from './pem.ts';
import { createRequest, parseRequestDer, parseRequestPem } from './request.ts';

const SUBJECT = { commonName: 'system:node:w-1', organizations: ['system:nodes'] };
const NAMES = alternativeNames(['w-1', '10.0.0.7', 'fd00::7']);
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test.each(['ECDSA-P256', 'RSA-2048'] as const)('%s: a request reads back and can be signed', (algorithm) => {
  const clock = manualClock();
  const key = generateKey(algorithm);
  const request = parseRequestPem(createRequest(key, { subject: SUBJECT, alternativeNames: NAMES }));
  expect(request).toMatchObject({ subject: SUBJECT, alternativeNames: NAMES });
  const authority = openAuthority(createAuthority({ commonName: 'kubernetes', clock }));
  const pem = issueFor(authority, request.publicKey, { ...request, usages: ['client'], clock });
  expect(new X509Certificate(pem).checkPrivateKey(key)).toBe(true);
});

test('a request that another key signed is refused', () => {
  const [own] = fromPem('CERTIFICATE REQUEST', createRequest(generateKey(), { subject: SUBJECT }));
  const tampered = Buffer.from(own ?? []);
  const at = tampered.indexOf('system:node:w-1');
  tampered.write('system:node:w-2', at);
  expect(() => parseRequestDer(tampered)).toThrow(
    new PkiError('BadSignature', 'the request was not signed with its own key'),
  );
  expect(parseRequestDer(own ?? Buffer.alloc(0)).subject).toEqual(SUBJECT);
});

test.each([
  ['P-384', generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey],
  ['short RSA', generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey],
])('a %s key is refused by reason', (_what, key) => {
  expect(() => parseRequestPem(createRequest(key, { subject: SUBJECT }))).toThrow(
    new PkiError('Unsupported', 'only P-256 keys and RSA keys of at least 2048 bits are supported'),
  );
});

test.runIf(hasOpenssl)('openssl and we read each other', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-csr-'));
  try {
    const key = join(directory, 'key.pem');
    writeFileSync(key, privateKeyPem(generateKey()));
    const theirs = execFileSync('openssl', [
      'req',
      '-new',
      '-key',
      key,
      '-subj',
      '/O=system:nodes/CN=system:node:w-1',
      '-addext',
      'subjectAltName=DNS:w-1,IP:10.0.0.7,IP:fd00::7',
      '-addext',
      'extendedKeyUsage=serverAuth',
    ]).toString();
    expect(parseRequestPem(theirs)).toMatchObject({
      subject: SUBJECT,
      alternativeNames: NAMES,
      usages: ['server'],
    });
    const ours = createRequest(generateKey(), { subject: SUBJECT, alternativeNames: NAMES });
    const { status, stderr } = spawnSync('openssl', ['req', '-verify', '-noout'], { input: ours });
    expect([status, stderr.toString()]).toEqual([0, expect.stringContaining('OK')]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('damaged requests are refused by reason, whatever byte is wrong', () => {
  const [der = Buffer.alloc(0)] = fromPem(
    'CERTIFICATE REQUEST',
    createRequest(generateKey(), { subject: SUBJECT, alternativeNames: NAMES }),
  );
  const random = seededRandom(11);
  for (let round = 0; round < 500; round += 1) {
    const damaged = Buffer.from(round % 5 === 0 ? der.subarray(0, random.below(der.length)) : der);
    if (round % 5 !== 0) damaged[random.below(damaged.length)]! ^= 1 << random.below(8);
    let failure: unknown;
    try {
      parseRequestPem(toPem('CERTIFICATE REQUEST', damaged));
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(PkiError);
  }
});
