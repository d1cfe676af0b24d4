import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as v from 'valibot';
import { verbatim } from '../../contract/index.ts';
import { stateFile } from './state-file.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'pilothouse-state-'));
});
afterEach(() => rmSync(data, { recursive: true }));

const file = stateFile({
  schema: v.object({ host: v.string() }),
  path: (folder) => join(folder, 'sub/state.json'),
  remedy: verbatim('delete it'),
});

test('a stored value can be read until it is removed, and only by its owner', async () => {
  expect(await file.read(data)).toBeUndefined();
  await file.write(data, { host: 'cp-1' });
  expect([await file.read(data), statSync(join(data, 'sub/state.json')).mode & 0o777]).toEqual([
    { host: 'cp-1' },
    0o600,
  ]);
  await file.forget(data);
  await file.forget(data);
  expect(await file.read(data)).toBeUndefined();
});

test.each(['{', '{"host":1}'])('a damaged file (%s) is one line that says what to do', async (text) => {
  await file.write(data, { host: 'cp-1' });
  writeFileSync(join(data, 'sub/state.json'), text);
  await expect(file.read(data)).rejects.toMatchObject({
    reason: 'BadConfiguration',
    message: expect.stringMatching(/state\.json is damaged: .*; delete it$/) as string,
  });
});
