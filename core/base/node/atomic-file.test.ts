import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFileAtomically } from './atomic-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-atomic-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a file is replaced whole, with the mode asked for, and no draft stays', async () => {
  const path = join(directory, 'file');
  writeFileSync(path, 'old and longer', { mode: 0o644 });
  await writeFileAtomically(path, 'new');
  expect([readFileSync(path, 'utf8'), readdirSync(directory)]).toEqual(['new', ['file']]);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a write that fails leaves the old file and no draft', async () => {
  const path = join(directory, 'folder');
  await writeFileAtomically(join(directory, 'keep'), 'kept');
  mkdirSync(join(path, 'inside'), { recursive: true });
  await expect(writeFileAtomically(path, 'cannot replace a folder')).rejects.toThrow();
  expect(readdirSync(directory).sort()).toEqual(['folder', 'keep']);
});

test('writers immediately never mix their contents', async () => {
  const path = join(directory, 'file');
  const texts = Array.from({ length: 20 }, (_, n) => String(n).repeat(10_000));
  await Promise.all(texts.map((text) => writeFileAtomically(path, text)));
  expect(texts).toContain(readFileSync(path, 'utf8'));
  expect(readdirSync(directory)).toEqual(['file']);
});
