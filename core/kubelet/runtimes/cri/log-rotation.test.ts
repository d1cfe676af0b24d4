import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeLog, rotateLog } from './log-rotation.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-rotation-'));
  path = join(folder, '0.log');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const limits = { bytesMax: 8, filesMax: 3 };
const files = async (): Promise<string[]> => (await readdir(folder)).sort();

test('a log keeps so many files, the older ones compressed', async () => {
  for (const [index, text] of ['first---', 'second--', 'third---', 'fourth--'].entries()) {
    await writeFile(path, text);
    const reopen = (): Promise<void> => writeFile(path, '');
    expect(await rotateLog(path, { limits, nowMs: index * 1000, reopen })).toBe(true);
  }
  expect(await files()).toEqual(['0.log', '0.log.19700101-000002.gz', '0.log.19700101-000003']);
  const compressed = await readFile(`${path}.19700101-000002.gz`);
  expect(gunzipSync(compressed).toString()).toBe('third---');
  await removeLog(path);
  expect(await files()).toEqual([]);
});

test('a short log, and one that is not there, stay as they are', async () => {
  const reopen = (): Promise<void> => Promise.reject(new Error('not asked for'));
  expect(await rotateLog(path, { limits, nowMs: 0, reopen })).toBe(false);
  await writeFile(path, 'short');
  expect(await rotateLog(path, { limits, nowMs: 0, reopen })).toBe(false);
  expect(await files()).toEqual(['0.log']);
});

test('where the runtime opens no new file, the log gets its name back', async () => {
  await writeFile(path, 'long enough');
  const reopen = (): Promise<void> => Promise.reject(new Error('the runtime is down'));
  await expect(rotateLog(path, { limits, nowMs: 0, reopen })).rejects.toThrow('the runtime is down');
  expect(await readFile(path, 'utf8')).toBe('long enough');
});
