import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { createKmsClient } from './kms-client.ts';
import { createKmsCipher } from './kms-provider.ts';
import { startKmsPlugin, type KmsPlugin } from './testing/kms-plugin.ts';

const KEY = '/registry/secrets/default/a';
const VALUE = Buffer.from('value');
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const run of cleanups.splice(0)) run();
});

const setup = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kms-'));
  const socketPath = join(folder, 'kms.sock');
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const plugin: KmsPlugin = await startKmsPlugin(socketPath);
  cleanups.push(() => plugin.close());
  const open = async () => {
    const clock = manualClock();
    const service = createKmsClient(socketPath, 500);
    const cipher = createKmsCipher({ name: 'test', service, clock, log: silentLog });
    cleanups.push(() => cipher.dispose());
    await cipher.primed;
    return { clock, cipher };
  };
  return { plugin, open };
};

test('a second server asks the plugin once for the key of all values, and reads them', async () => {
  const { plugin, open } = await setup();
  const [writer, reader] = [await open(), await open()];
  const [one, two] = [writer.cipher.encrypt(VALUE, KEY), writer.cipher.encrypt(VALUE, KEY)] as Uint8Array[];
  const decrypts = plugin.calls.Decrypt;
  const read = [await reader.cipher.decrypt(one!, KEY), await reader.cipher.decrypt(two!, KEY)];
  expect(read.map(({ value, isStale }) => [Buffer.from(value).toString(), isStale])).toEqual([
    ['value', false],
    ['value', false],
  ]);
  expect(plugin.calls.Decrypt - decrypts).toBe(1);
});

test('after the plugin changed its key, old values are stale and new ones use it', async () => {
  const { plugin, open } = await setup();
  const { cipher, clock } = await open();
  const before = cipher.encrypt(VALUE, KEY) as Uint8Array;
  plugin.keyId = 'second';
  clock.advance(60_000);
  await cipher.check();
  const after = cipher.encrypt(VALUE, KEY) as Uint8Array;
  expect([(await cipher.decrypt(before, KEY)).isStale, (await cipher.decrypt(after, KEY)).isStale]).toEqual([
    true,
    false,
  ]);
});

test('while the plugin is down, known keys still read, and writes end after three minutes', async () => {
  const { plugin, open } = await setup();
  const { cipher, clock } = await open();
  const stored = cipher.encrypt(VALUE, KEY) as Uint8Array;
  plugin.close();
  clock.advance(60_000);
  await expect(cipher.check()).rejects.toThrow(
    'failed to perform status section of the healthz check for KMS Provider test',
  );
  expect(() => cipher.encrypt(VALUE, KEY)).not.toThrow();
  clock.advance(121_000);
  expect(() => cipher.encrypt(VALUE, KEY)).toThrow('expired at');
  expect(Buffer.from((await cipher.decrypt(stored, KEY)).value).toString()).toBe('value');
});

test.each([
  ['an error', { fails: 'no key' }, 'rpc error: code = Unknown desc = no key'],
  ['another version', { version: 'v3' }, 'expected KMSv2 API version v2, got v3'],
  ['bad health', { healthz: 'broken' }, 'got unexpected healthz status: broken'],
  ['an empty key id', { keyId: '' }, 'keyID is empty'],
])('a plugin that answers with %s is not healthy', async (_name, behaviour, text) => {
  const { plugin, open } = await setup();
  Object.assign(plugin, behaviour);
  const { cipher } = await open();
  await expect(cipher.check()).rejects.toThrow(text);
});

test('nothing is written or read before the plugin has encrypted a key', async () => {
  const { plugin, open } = await setup();
  plugin.fails = 'no key';
  const { cipher } = await open();
  expect(() => cipher.encrypt(VALUE, KEY)).toThrow('got unexpected nil transformer');
});

test('a plugin that never answers is given up after the timeout', async () => {
  const { plugin, open } = await setup();
  plugin.isHanging = true;
  const { cipher } = await open();
  await expect(cipher.check()).rejects.toThrow('rpc error: code = DeadlineExceeded');
});
