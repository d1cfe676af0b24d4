import { expect, test } from 'vitest';
import { parseEncryptionConfiguration } from './configuration.ts';

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n';
const KEY = Buffer.alloc(32, 1).toString('base64');
const one = (resources: string, provider: string): string =>
  `${HEAD}resources: [{resources: [${resources}], providers: [${provider}]}]`;
const AES = `{aescbc: {keys: [{name: k, secret: ${KEY}}]}}`;
const kms = (fields: string): string => one('secrets', `{kms: {${fields}}}`);

test('reads rules with their providers', () => {
  const { rules } = parseEncryptionConfiguration(
    one(
      'secrets, deployments.apps',
      `${AES}, {kms: {apiVersion: v2, name: a, endpoint: 'unix:///run/kms.sock'}}, {identity: {}}`,
    ),
  );
  expect(rules).toEqual([
    {
      resources: [
        { group: '', resource: 'secrets' },
        { group: 'apps', resource: 'deployments' },
      ],
      providers: [
        { type: 'aescbc', keys: [{ name: 'k', secret: Buffer.alloc(32, 1) }] },
        { type: 'kms', name: 'a', socketPath: '/run/kms.sock', timeoutMs: 3000 },
        { type: 'identity' },
      ],
    },
  ]);
});

test.each([
  [
    'another kind',
    'apiVersion: v1\nkind: Secret',
    'is not an EncryptionConfiguration of apiserver.config.k8s.io/v1',
  ],
  ['no rules', HEAD, 'resources: Required value: at least one resources is required'],
  [
    'no providers',
    `${HEAD}resources: [{resources: [secrets]}]`,
    'at least one resources[0].providers is required',
  ],
  ['an unknown field', `${one('secrets', AES)}\nmore: 1`, 'strict decoding error: unknown field "more"'],
  [
    'two providers in one element',
    one('secrets', `{identity: {}, aescbc: {keys: [{name: k, secret: ${KEY}}]}}`),
    'more than one provider specified in a single element',
  ],
  ['no keys', one('secrets', '{secretbox: {keys: []}}'), 'at least one keys is required'],
  [
    'a secret that is not base64',
    one('secrets', '{aescbc: {keys: [{name: k, secret: "a secret"}]}}'),
    'secrets must be base64 encoded',
  ],
  [
    'a short key',
    one('secrets', `{secretbox: {keys: [{name: k, secret: ${Buffer.alloc(16).toString('base64')}}]}}`),
    'secret is not of the expected length, got 16, expected one of [32]',
  ],
  ['a star', one("'*'", AES), "use '*.' to encrypt all the resources from core API group"],
  ['capital letters', one('Secrets', AES), 'resource name should not contain capital letters'],
  ['overlap', one("secrets, '*.'", AES), 'using overlapping resources'],
  ['the same twice', one('secrets, secrets', AES), 'the same resource cannot be specified multiple times'],
  [
    'a resource of servers',
    one('serviceipallocations', AES),
    'resources which do not have REST API/s cannot be encrypted',
  ],
  ['KMS v1', kms("name: a, endpoint: 'unix:///a'"), 'Use KMSv2 instead'],
  [
    'KMS over TCP',
    kms("apiVersion: v2, name: a, endpoint: 'tcp://a'"),
    'unsupported scheme "tcp" for KMS provider, only unix is supported',
  ],
  ['a colon in the name', kms("apiVersion: v2, name: 'a:b', endpoint: 'unix:///a'"), "must not contain ':'"],
  [
    'a cache size',
    kms("apiVersion: v2, name: a, endpoint: 'unix:///a', cachesize: 5"),
    'cachesize is not supported in v2',
  ],
  [
    'no time',
    kms("apiVersion: v2, name: a, endpoint: 'unix:///a', timeout: 0s"),
    'timeout should be a positive value',
  ],
])('rejects %s', (_name, text, message) => {
  expect(() => parseEncryptionConfiguration(text)).toThrow(message);
});

test('rejects a rule behind one that covers it', () => {
  const text = `${HEAD}resources: [{resources: ['*.*'], providers: [${AES}]}, {resources: [secrets], providers: [${AES}]}]`;
  expect(() => parseEncryptionConfiguration(text)).toThrow(
    'resource "secrets" is masked by earlier rule "*.*"',
  );
});

test('no error shows a key', () => {
  const text = one('secrets', `{aescbc: {keys: [{name: k, secret: ${KEY}x}]}}`);
  expect(() => parseEncryptionConfiguration(text)).toThrow(/^(?!.*AQEB)/s);
});
