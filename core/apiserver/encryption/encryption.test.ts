import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { startEncryption, type Encryption } from './encryption.ts';

const KEY = '/registry/secrets/default/a';
const folders: string[] = [];
const running: Encryption[] = [];
afterEach(() => {
  for (const one of running.splice(0)) one.dispose();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const configuration = (...names: string[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [
          {
            secretbox: {
              keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })),
            },
          },
        ],
      },
    ],
  });

const setup = async (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'encryption-'));
  folders.push(folder);
  const file = join(folder, 'encryption.yaml');
  writeFileSync(file, text);
  const metrics = new Registry();
  const encryption = await startEncryption({
    file,
    isReloaded: true,
    apiServerId: 'apiserver-a',
    metrics,
    clock: systemClock,
    log: silentLog,
  });
  running.push(encryption);
  const prefix = (): string =>
    /v1:(\w+):/.exec(
      Buffer.from(encryption.toStorage(Buffer.from('x'), KEY) as Uint8Array).toString('latin1'),
    )![1]!;
  return { file, metrics, encryption, prefix };
};

/** The file system tells of a change when it likes. */
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await pause(10);
};

test('a changed file is used without a restart, and a broken one leaves the old keys in use', async () => {
  const { file, metrics, encryption, prefix } = await setup(configuration('one'));
  const stored = (await encryption.toStorage(Buffer.from('value'), KEY)) as Uint8Array;
  writeFileSync(file, configuration('two', 'one'));
  await until(() => prefix() === 'two');
  const { value, isStale } = await encryption.fromStorage(stored, KEY);
  expect([Buffer.from(value).toString(), isStale]).toEqual(['value', true]);
  writeFileSync(file, 'resources: [');
  await until(
    () =>
      metrics.expose().includes('automatic_reloads_total') && /status="failure"\} 1/.test(metrics.expose()),
  );
  expect(prefix()).toBe('two');
});

test('a file that cannot be used at the start fails with its name, and without a key', async () => {
  const text = configuration('one').replace('"secret":"', '"secret":"!');
  await expect(setup(text)).rejects.toThrow(
    /^--encryption-provider-config .*encryption\.yaml: .*secrets must be base64/,
  );
});
