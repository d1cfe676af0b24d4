import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kindOfFile, openFile } from './open-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilothouse-open-'));
afterAll(() => rmSync(folder, { recursive: true }));

const snapshotHead = (): Uint8Array => {
  const head = new Uint8Array(32);
  head.set([0xed, 0xda, 0x0c, 0xed], 16);
  return head;
};

const opened = async (content: Uint8Array | string): Promise<string[]> => {
  const path = join(folder, 'a file');
  writeFileSync(path, content);
  const done: string[] = [];
  await openFile(path, {
    allowSnapshot: (file) => done.push(`allow ${file.slice(folder.length)}`),
    openKubeconfig: async (file) => done.push(`kubeconfig ${file.slice(folder.length)}`),
    go: (page) => done.push(`go ${page.replace(encodeURIComponent(folder), '')}`),
  });
  return done;
};

test('a snapshot is offered for a restore, and pages may speak of it', async () => {
  expect(await opened(snapshotHead())).toEqual(['allow /a file', 'go /snapshots?restore=%2Fa%20file']);
});

test('anything else is opened as a kubeconfig', async () => {
  expect(await opened('apiVersion: v1\nkind: Config\n')).toEqual(['kubeconfig /a file', 'go /clusters']);
  expect([kindOfFile(new Uint8Array(0)), kindOfFile(snapshotHead().subarray(0, 19))]).toEqual([
    'kubeconfig',
    'kubeconfig',
  ]);
});

test('a file that is missing is an error', async () => {
  const nothing = { allowSnapshot() {}, openKubeconfig: async () => undefined, go() {} };
  await expect(openFile(join(folder, 'none'), nothing)).rejects.toThrow('ENOENT');
});
