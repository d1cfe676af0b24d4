import { expect, test } from 'vitest';
import { parseEncryptionConfiguration } from '../../apiserver/encryption/index.ts';
import {
  describeKeys,
  keyNames,
  newEncryptionYaml,
  withFirstKeyOnly,
  withKeysFirst,
  withNewKey,
  withPlainFirst,
  withSecondKeyFirst,
  writtenPrefixes,
} from '../data-folder/encryption-configuration.ts';
import { openKeys, sealKeys } from './key-bundle.ts';

const AT = Date.UTC(2026, 0, 1);
const LATER = Date.UTC(2026, 5, 1);
const [OLD, NEW] = ['key-20260101t000000z', 'key-20260601t000000z'];

const providersOf = (text: string): string[] =>
  parseEncryptionConfiguration(text).rules[0]!.providers.map(({ type }) => type);

test('a new cluster encrypts Secrets and still reads plain ones', () => {
  const text = newEncryptionYaml(AT);
  expect(providersOf(text)).toEqual(['secretbox', 'identity']);
  expect(writtenPrefixes(text)).toEqual([{ resource: 'secrets', prefix: `k8s:enc:secretbox:v1:${OLD}:` }]);
});

test('a rotation adds a key for reading, writes with it, and then drops the old one and plain values', () => {
  const added = withNewKey(newEncryptionYaml(AT), LATER);
  const promoted = withSecondKeyFirst(added);
  const done = withFirstKeyOnly(promoted);
  expect([added, promoted, done].map((text) => keyNames(text)[0])).toEqual([[OLD, NEW], [NEW, OLD], [NEW]]);
  expect(providersOf(done)).toEqual(['secretbox']);
});

test('a configuration without keys of its own is not rotated', () => {
  const text = newEncryptionYaml(AT).replace(/secretbox:[^]*?(?=\n {6}- identity)/, 'identity: {}');
  expect(() => withNewKey(text, LATER)).toThrow('no key of its own to rotate');
});

test('while servers get the keys one after the other, values are written plain', () => {
  const text = newEncryptionYaml(AT);
  expect(providersOf(withPlainFirst(text))).toEqual(['identity', 'secretbox']);
  expect(withKeysFirst(withPlainFirst(text))).toBe(text);
});

test('values are written plain again also after a rotation, which removes the plain provider', () => {
  const rotated = withFirstKeyOnly(newEncryptionYaml(AT));
  expect(providersOf(withPlainFirst(rotated))).toEqual(['identity', 'secretbox']);
});

test('keys leave the cluster only behind a passphrase', async () => {
  const text = newEncryptionYaml(AT);
  const bundle = await sealKeys(text, 'correct horse battery');
  expect(await openKeys(bundle, 'correct horse battery')).toBe(text);
  await expect(openKeys(bundle, 'wrong horse battery')).rejects.toThrow('the passphrase is wrong');
  await expect(sealKeys(text, 'short')).rejects.toThrow('at least 12 characters');
  expect(bundle).not.toContain('secretbox');
});

test('keys are described with their age and without their secrets', () => {
  const text = withNewKey(newEncryptionYaml(AT), LATER);
  const described = describeKeys(text);
  expect(described).toEqual([
    { name: OLD, provider: 'secretbox', resources: ['secrets'], isWriting: true, createdAtMs: AT },
    { name: NEW, provider: 'secretbox', resources: ['secrets'], isWriting: false, createdAtMs: LATER },
  ]);
});
