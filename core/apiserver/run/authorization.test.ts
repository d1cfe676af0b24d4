import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { silentLog, type Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { resourceAttributes } from '../authz/authorizer.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { createAuthorization, type Authorization } from './authorization.ts';

const folders: string[] = [];
const running: Authorization[] = [];
afterEach(() => {
  for (const one of running.splice(0)) one.dispose();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const configuration = (...types: string[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: types.map((type) => ({ type, name: type.toLowerCase() })),
  });
const wish = resourceAttributes(
  { name: 'ann', uid: '', groups: [], extra: {} },
  { verb: 'get', resource: 'pods' },
);

/** The file system tells of a change when it likes. */
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await pause(10);
};

const fileWith = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'authorization-'));
  folders.push(folder);
  const file = join(folder, 'authorization.yaml');
  writeFileSync(file, text);
  return file;
};

const start = async (configFile: string, log: Log = silentLog): Promise<Authorization> => {
  const config = {
    minor: 36,
    authorization: { configFile, policyFile: '', webhook: {} },
  } as unknown as ApiServerConfig;
  const started = await createAuthorization({ config, metrics: new Registry(), clock: systemClock, log });
  running.push(started);
  return started;
};

test('a changed file decides without a restart, and one that is half written leaves the old order in use', async () => {
  const warnings: unknown[] = [];
  const file = fileWith(configuration('AlwaysAllow'));
  const { authorizer } = await start(file, {
    ...silentLog,
    write: (severity, _text, fields) => void (severity === 'warn' && warnings.push(fields)),
  });
  const decision = () => (authorizer.authorize(wish) as { decision: string }).decision;
  expect(decision()).toBe('allow');
  writeFileSync(file, configuration('AlwaysDeny').slice(0, 90));
  await until(() => warnings.length === 1);
  writeFileSync(file, configuration('Nobody'));
  await until(() => warnings.length === 2);
  expect([decision(), warnings.every((one) => JSON.stringify(one).includes(file))]).toEqual(['allow', true]);
  writeFileSync(file, configuration('AlwaysDeny'));
  await until(() => decision() === 'no-opinion');
});

test('a file that cannot be used at the start fails with its flag, its name and the field', async () => {
  const file = fileWith(configuration('Nobody'));
  await expect(start(file)).rejects.toThrow(
    `--authorization-config ${file}: authorizers[0].type: Unsupported value: "Nobody"`,
  );
});
