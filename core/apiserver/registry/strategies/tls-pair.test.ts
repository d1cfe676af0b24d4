import { expect, test } from 'vitest';
import { systemClock } from '../../../base/node/clock.ts';
import { createAuthority } from '../../../pki/index.ts';
import { tlsPairProblem } from './tls-pair.ts';

const [one, other] = ['one', 'other'].map((commonName) =>
  createAuthority({ commonName, clock: systemClock }),
);
const block = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;

test.each<[string, string | undefined, string, string]>([
  ['a pair', undefined, one!.certificatePem, one!.privateKeyPem],
  ['no PEM', 'tls: failed to find any PEM data in certificate input', 'a', 'b'],
  ['no key', 'tls: failed to find any PEM data in key input', one!.certificatePem, ''],
  [
    'switched inputs',
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    one!.privateKeyPem,
    one!.certificatePem,
  ],
  [
    'two certificates',
    'tls: found a certificate rather than a key in the PEM for the private key',
    one!.certificatePem,
    one!.certificatePem,
  ],
  [
    'other blocks',
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
    block('A') + block('B'),
    '',
  ],
  ['a broken certificate', 'x509: malformed certificate', block('CERTIFICATE'), one!.privateKeyPem],
  ['a broken key', 'tls: failed to parse private key', one!.certificatePem, block('PRIVATE KEY')],
  [
    'the key of another',
    'tls: private key does not match public key',
    one!.certificatePem,
    other!.privateKeyPem,
  ],
])('%s is reported as Go reports it', (_what, problem, certificate, key) => {
  expect(tlsPairProblem(certificate, key)).toBe(problem);
});
