import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import type { PlainValue } from '../storage/value-transformer.ts';
import { parseEncryptionConfiguration } from './configuration.ts';
import { createTransformers, type Transformers } from './transformers.ts';

const SECRET = '/registry/secrets/default/a';
const secretOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64');

const config = (entries: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n${entries}`;

const rule = (resources: string, ...providers: string[]): string =>
  `- resources: [${resources}]\n  providers:\n${providers.map((one) => `  - ${one}\n`).join('')}`;

const keyed = (type: string, ...keys: [name: string, fill: number][]): string =>
  `{${type}: {keys: [${keys.map(([name, fill]) => `{name: ${name}, secret: ${secretOf(fill)}}`).join(', ')}]}}`;

const transformersOf = (entries: string): Transformers =>
  createTransformers(parseEncryptionConfiguration(config(entries)), {
    clock: manualClock(),
    log: silentLog,
  });

const written = (transformers: Transformers, key = SECRET, text = 'value'): Uint8Array =>
  transformers.toStorage(Buffer.from(text), key) as Uint8Array;
const read = (transformers: Transformers, data: Uint8Array, key = SECRET): [string, boolean] => {
  const { value, isStale } = transformers.fromStorage(data, key) as PlainValue;
  return [Buffer.from(value).toString(), isStale];
};

test.each(['aescbc', 'aesgcm', 'secretbox'])('%s values begin with provider, version and key', (type) => {
  const transformers = transformersOf(rule('secrets', keyed(type, ['key1', 1])));
  const data = written(transformers);
  expect(Buffer.from(data).toString('latin1').startsWith(`k8s:enc:${type}:v1:key1:`)).toBe(true);
  expect(read(transformers, data)).toEqual(['value', false]);
});

test('a resource without a rule stays plain, and its encrypted values are rejected', () => {
  const transformers = transformersOf(rule('secrets', keyed('secretbox', ['k', 1])));
  const key = '/registry/configmaps/default/a';
  expect(read(transformers, written(transformers, key), key)).toEqual(['value', false]);
  expect(() => read(transformers, written(transformers), key)).toThrow(
    'identity transformer tried to read encrypted data',
  );
});

test('a value of the second key, of the second provider, and a plain one are stale', () => {
  const before = transformersOf(rule('secrets', keyed('aescbc', ['old', 1])));
  const both = transformersOf(rule('secrets', keyed('aescbc', ['new', 2], ['old', 1]), '{identity: {}}'));
  const other = transformersOf(rule('secrets', keyed('secretbox', ['k', 3]), keyed('aescbc', ['old', 1])));
  expect([
    read(both, written(before)),
    read(other, written(before)),
    read(both, Buffer.from('{"kind":"Secret"}')),
  ]).toEqual([
    ['value', true],
    ['value', true],
    ['{"kind":"Secret"}', true],
  ]);
});

test('the same provider twice with different keys of one name reads both', () => {
  const before = transformersOf(rule('secrets', keyed('aesgcm', ['k', 1])));
  const after = transformersOf(rule('secrets', keyed('aesgcm', ['k', 2]), keyed('aesgcm', ['k', 1])));
  expect(read(after, written(before))).toEqual(['value', true]);
});

test('identity first turns encryption off and still reads encrypted values', () => {
  const before = transformersOf(rule('secrets', keyed('aescbc', ['k', 1])));
  const off = transformersOf(rule('secrets', '{identity: {}}', keyed('aescbc', ['k', 1])));
  expect(read(off, written(before))).toEqual(['value', true]);
  expect(Buffer.from(written(off)).toString()).toBe('value');
});

test.each([
  [
    'a provider that is not configured',
    rule('secrets', keyed('secretbox', ['k', 1])),
    'no matching prefix found',
  ],
  [
    'a key name that is not configured',
    rule('secrets', keyed('aescbc', ['other', 1])),
    'no matching key was found for the provided AES transformer',
  ],
])('%s gives one clear error', (_name, entries, text) => {
  const data = written(transformersOf(rule('secrets', keyed('aescbc', ['key1', 1]))));
  expect(() => read(transformersOf(entries), data)).toThrow(text);
});

test('wildcards cover a group, the core group and everything; an exact name comes first', () => {
  const transformers = transformersOf(
    rule('events', '{identity: {}}') +
      rule("'*.apps'", keyed('aesgcm', ['apps', 1])) +
      rule("'*.*'", keyed('aesgcm', ['all', 2])),
  );
  const prefixOf = (key: string): string =>
    /^k8s:enc:aesgcm:v1:(\w+):/.exec(Buffer.from(written(transformers, key)).toString('latin1'))?.[1] ?? '';
  expect([
    prefixOf('/registry/events/default/a'),
    prefixOf('/registry/deployments/default/a'),
    prefixOf('/registry/pods/default/a'),
    prefixOf('/registry/example.com/pandas/default/a'),
    prefixOf('/registry/services/specs/default/a'),
    prefixOf('/registry/masterleases/10.0.0.1'),
  ]).toEqual(['', 'apps', 'all', 'all', 'all', 'all']);
});
