import { expect, test } from 'vitest';
import { manualClock } from '../base/manual-clock.ts';
import { seededRandom } from '../base/random.ts';
import { alternativeNames } from './alternative-names.ts';
import { PkiError } from './errors.ts';
import { inspectBundle, inspectDer, inspectPem } from './inspect.ts';
import { createAuthority, isKeyPair, issueLeaf, openAuthority } from './issue.ts';

const clock = manualClock();
const root = createAuthority({ commonName: 'root', clock });
const leaf = issueLeaf(openAuthority(root), {
  subject: { commonName: 'x', organizations: ['o'] },
  usages: ['server'],
  alternativeNames: alternativeNames(['a.example', '10.0.0.1']),
  clock,
});

test('a bundle is read in its order, whatever text is between its blocks', () => {
  const text = `# the leaf\n${leaf.certificatePem}\r\n# the root\n${root.certificatePem}`;
  expect(inspectBundle(text).map(({ subject }) => subject.commonName)).toEqual(['x', 'root']);
  expect(inspectBundle('nothing here')).toEqual([]);
});

test('a key file in place of a certificate is reported by reason', () => {
  expect(() => inspectPem(root.privateKeyPem)).toThrow(
    new PkiError('Malformed', 'no PEM block of type CERTIFICATE was found'),
  );
});

test('a certificate and the key of another do not pass for a pair', () => {
  expect([isKeyPair(leaf), isKeyPair({ ...leaf, privateKeyPem: root.privateKeyPem })]).toEqual([true, false]);
});

test('a leaf cannot be opened as an authority', () => {
  expect(() => openAuthority(leaf)).toThrow(PkiError);
});

test('damaged certificates are refused by reason or read, never worse', () => {
  const { der } = inspectPem(leaf.certificatePem);
  const random = seededRandom(3);
  let refused = 0;
  for (let round = 0; round < 1000; round += 1) {
    const damaged = Buffer.from(round % 4 === 0 ? der.subarray(0, random.below(der.length)) : der);
    if (round % 4 !== 0) damaged[random.below(damaged.length)]! ^= 1 << random.below(8);
    try {
      inspectDer(damaged);
    } catch (error) {
      expect(error).toBeInstanceOf(PkiError);
      refused += 1;
    }
  }
  // Every truncation at least: what is shorter than it says is no certificate.
  expect(refused).toBeGreaterThanOrEqual(250);
});
