import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import type { PrintedFinding } from '../../main/cli/commands/findings.ts';
import { pilothouse } from '../support/cluster.ts';
import { attackedApi, type AttackedApi } from './api-client.ts';
import { asStranger, isRoot } from './default-cluster.ts';

const NAMESPACE = 'encryption-at-rest';
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const data = inject('attackedData');
const plain = randomBytes(24).toString('hex');
const encoded = Buffer.from(plain).toString('base64');
let api: AttackedApi;
beforeAll(async () => {
  api = await attackedApi(data);
  await api.json(
    { ...api.admin, method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } },
    201,
  );
});

/** Files of the cluster in which one of the texts stands. */
const filesWith = (...texts: readonly (string | Buffer)[]): string[] =>
  readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file);
      return texts.some((text) => bytes.includes(text));
    });

test('no file of any member, backup or log contains the value of a Secret', async () => {
  const body = { metadata: { name: 'a' }, data: { password: encoded } };
  await api.json({ ...api.admin, method: 'POST', path: SECRETS, body }, 201);
  await api.json(
    { ...api.admin, method: 'PUT', path: `${SECRETS}/a`, body: { ...body, type: 'Opaque' } },
    200,
  );
  const saved = await pilothouse('snapshot', 'save', '--data', data);
  expect([saved.code, filesWith(plain, encoded)]).toEqual([0, []]);
  const { stdout } = await pilothouse('check', '--data', data, '-o', 'json');
  const finding = (JSON.parse(stdout) as PrintedFinding[]).find(({ id }) => id === 'encryptionAtRest');
  expect([finding?.verdict, finding?.message]).toEqual([
    'ok',
    'configured; a stored Secret begins with "k8s:enc:secretbo"',
  ]);
});

test('the key is in its file alone, and leaves it only behind a passphrase', async () => {
  const [, key = ''] = /secret: (\S+)/.exec(readFileSync(join(data, 'encryption.yaml'), 'utf8'))!;
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-keys-'));
  const [bundle, passphrase] = [join(folder, 'keys.json'), join(folder, 'passphrase')];
  writeFileSync(passphrase, 'correct horse battery\n');
  const args = ['encryption', 'export', bundle, '--passphrase-file', passphrase, '--data', data];
  expect((await pilothouse(...args)).code).toBe(0);
  expect(readFileSync(bundle, 'utf8')).not.toContain(key);
  expect(filesWith(key, Buffer.from(key, 'base64'))).toEqual([join(data, 'encryption.yaml')]);
  rmSync(folder, { recursive: true, force: true });
});

test.runIf(isRoot)('a local user cannot read the keys', async () => {
  const { code, stderr } = await asStranger('/bin/cat', [join(data, 'encryption.yaml')]);
  expect({ code, isDenied: stderr.includes('Permission denied') }).toEqual({ code: 1, isDenied: true });
});

test('a rotation replaces the key of the running cluster, and Secrets stay readable', async () => {
  const statusOf = async () =>
    JSON.parse((await pilothouse('encryption', 'status', '--data', data, '-o', 'json')).stdout) as {
      keys: string[][];
    };
  const before = await statusOf();
  const rotated = await pilothouse('encryption', 'rotate', '--data', data, '-o', 'json');
  expect([rotated.code, rotated.stderr.includes('Remove the old key')]).toEqual([0, true]);
  const after = await statusOf();
  expect([after.keys.map(({ length }) => length), after.keys[0]![0] === before.keys[0]![0]]).toEqual([
    [1],
    false,
  ]);
  const read = (await api.json({ ...api.admin, path: `${SECRETS}/a` }, 200)) as {
    data: { password: string };
  };
  expect(read.data.password).toBe(encoded);
});
