import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockDirectory } from './directory-lock.ts';

const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'pilothouse-lock-'));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

test('a folder in use is refused, with the process that uses it, until it is free', async () => {
  const directory = folder();
  const lock = await lockDirectory(directory);
  await expect(lockDirectory(directory)).rejects.toThrow(
    `the data directory ${directory} is in use by process ${process.pid}; stop that process first`,
  );
  lock.dispose();
  (await lockDirectory(directory)).dispose();
});

test('a lock left by a crashed process does not block the next one', async () => {
  const directory = folder();
  writeFileSync(join(directory, '.owner'), String(process.ppid));
  (await lockDirectory(directory)).dispose();
});

test('a directory that cannot be created is reported in one line', async () => {
  const file = join(folder(), 'file');
  writeFileSync(file, '');
  await expect(lockDirectory(join(file, 'data'))).rejects.toThrow(/^cannot use the data directory/);
});
