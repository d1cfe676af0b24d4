import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setManifestAside } from './manifest-aside.ts';
import { beginSwap, memberFolders, swapIn, undoInterruptedRestore } from './member-folders.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'pilothouse-restore-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const HOSTS = ['cp-1', 'cp-2'];
const STAMP = 'now';
const places = () => HOSTS.map((host) => memberFolders(data, host, STAMP));
const manifest = (host: string): string => join(data, 'hosts', host, 'manifests', 'etcd.yaml');

beforeEach(async () => {
  for (const { host, data: folder, fresh } of places()) {
    put(join(folder, 'db'), 'old');
    put(join(fresh, 'db'), 'new');
    put(manifest(host), 'etcd');
  }
  await beginSwap(data, { stamp: STAMP, etcdHosts: HOSTS, apiHosts: [] });
  await setManifestAside(data, 'cp-1', 'etcd');
});

const contents = (): string[] => places().map(({ data: folder }) => readFileSync(join(folder, 'db'), 'utf8'));

test.each<[string, () => Promise<void> | void]>([
  ['before the first folder', () => undefined],
  ['between the two renames of a folder', () => renameSync(places()[0]!.data, places()[0]!.before)],
  ['after one of two members', () => swapIn(places().slice(0, 1))],
  ['after all members', () => swapIn(places())],
])('a restore that was cut off %s is undone', async (_claim, until) => {
  await until();
  expect(await undoInterruptedRestore(data)).toBe(true);
  expect([contents(), HOSTS.map((host) => existsSync(manifest(host)))]).toEqual([
    ['old', 'old'],
    [true, true],
  ]);
  expect(places().some(({ fresh, before }) => existsSync(fresh) || existsSync(before))).toBe(false);
  expect(await undoInterruptedRestore(data)).toBe(false);
});
