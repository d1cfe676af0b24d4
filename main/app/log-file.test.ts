import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLogFile } from './log-file.ts';

const inFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

test('a line is on disk when write returns, and only its owner may read it', () => {
  const log = openLogFile(inFolder());
  onTestFinished(() => log.dispose());
  log.stream.write('first\n');
  expect([readFileSync(log.path, 'utf8'), statSync(log.path).mode & 0o777]).toEqual(['first\n', 0o600]);
});

test('a full log file is set aside once, and the one before it goes', () => {
  const log = openLogFile(inFolder(), 8);
  onTestFinished(() => log.dispose());
  for (const line of ['one...\n', 'two...\n', 'three.\n']) log.stream.write(line);
  expect([readFileSync(log.path, 'utf8'), readFileSync(`${log.path}.1`, 'utf8')]).toEqual([
    'three.\n',
    'two...\n',
  ]);
});
