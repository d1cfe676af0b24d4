import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callControl } from '../control/client.ts';
import { controlEndpoint, fallbackFolder } from './control-endpoint.ts';

const LONG = `/${'long/'.repeat(30)}`;
const isRoot = process.getuid?.() === 0;
const before = process.env['TMPDIR'];
let scratch: string;
let folder: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'pilothouse-endpoint-'));
  process.env['TMPDIR'] = scratch;
  folder = fallbackFolder(userInfo().uid);
});
afterEach(() => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  rmSync(scratch, { recursive: true });
});

test('a short path has its socket inside, a long one in a folder that only this user can reach', () => {
  expect(controlEndpoint('/data/x')).toBe('/data/x/control.sock');
  expect(controlEndpoint(LONG).startsWith(`${folder}/`)).toBe(true);
  expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  expect(controlEndpoint(LONG)).toBe(controlEndpoint(LONG));
});

test.each<[string, () => void, RegExp]>([
  [
    'open to others',
    () => (mkdirSync(folder), chmodSync(folder, 0o755)),
    /its mode is 755, open to other users/,
  ],
  ['a link', () => symlinkSync(mkdtempSync(join(scratch, 'elsewhere-')), folder), /it is a symbolic link/],
])('a folder that is %s is refused by both ends', async (_what, make, why) => {
  make();
  expect(() => controlEndpoint(LONG)).toThrow(why);
  await expect(callControl(LONG, 'status', {})).rejects.toMatchObject({ reason: 'UnsafeDirectory' });
});

test('a file in its place is refused', () => {
  writeFileSync(folder, '');
  expect(() => controlEndpoint(LONG)).toThrow();
});

test.runIf(isRoot)('a directory created by another user is refused', () => {
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, 65_534, 65_534);
  expect(() => controlEndpoint(LONG)).toThrow(/it belongs to user 65534; remove it, or set TMPDIR/);
});
