import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasReason } from '../../core/base/errors.ts';
import { openJsonDocument, type Damage, type JsonDocument } from './json-document.ts';

const schema = v.object({ count: v.number(), name: v.string() });
type Value = v.InferOutput<typeof schema>;

let directory: string;
let damages: Damage[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-document-'));
  damages = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const openAt = (path: string): JsonDocument<Value> =>
  openJsonDocument({
    path,
    schema,
    initial: { count: 0, name: 'new' },
    onDamage: (damage) => damages.push(damage),
  });

test('changes are durable, private, and leave no draft behind', async () => {
  const path = join(directory, 'deep', 'value.json');
  await openAt(path).change((value) => ({ ...value, count: 7 }));
  expect(openAt(path).value).toEqual({ count: 7, name: 'new' });
  expect(readdirSync(join(directory, 'deep'))).toEqual(['value.json']);
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('changes asked for immediately are all applied', async () => {
  const document = openAt(join(directory, 'value.json'));
  await Promise.all(
    Array.from({ length: 10 }, () => document.change((value) => ({ ...value, count: value.count + 1 }))),
  );
  expect(document.value.count).toBe(10);
});

test('a key that an older version did not write takes its initial value', () => {
  writeFileSync(join(directory, 'value.json'), '{"count":3}');
  expect(openAt(join(directory, 'value.json')).value).toEqual({ count: 3, name: 'new' });
  expect(damages).toEqual([]);
});

test.each([
  ['torn', '{"count":'],
  ['of another type', '{"count":"many"}'],
  ['not an object', '[1]'],
  ['too large', `{"count":1,"name":"${'x'.repeat(1024 * 1024)}"}`],
])('a file that is %s is set aside under a free name', (_what, contents) => {
  const path = join(directory, 'value.json');
  writeFileSync(`${path}.damaged-1`, 'earlier');
  writeFileSync(path, contents);
  expect(openAt(path).value).toEqual({ count: 0, name: 'new' });
  expect(damages.map(({ keptAs }) => keptAs)).toEqual([`${path}.damaged-2`]);
  expect(readFileSync(`${path}.damaged-2`, 'utf8')).toBe(contents);
  expect(readFileSync(`${path}.damaged-1`, 'utf8')).toBe('earlier');
});

test('a change that cannot be written is refused and not kept', async () => {
  writeFileSync(join(directory, 'file'), '');
  const document = openAt(join(directory, 'file', 'value.json'));
  const error: unknown = await document.change((value) => ({ ...value, count: 1 })).catch((e: unknown) => e);
  expect([hasReason(error, 'Unavailable'), document.value.count]).toEqual([true, 0]);
});

test('a change builds on what another process has written since', async () => {
  const path = join(directory, 'value.json');
  const [app, served] = [openAt(path), openAt(path)];
  await app.change((value) => ({ ...value, name: 'theirs' }));
  expect(await served.change((value) => ({ ...value, count: 1 }))).toEqual({ count: 1, name: 'theirs' });
});

test('a change that is refused by its own rule leaves the file alone and keeps its reason', async () => {
  const path = join(directory, 'value.json');
  const document = openAt(path);
  const refuse = (): never => {
    throw new RangeError('too many');
  };
  expect(await document.change(refuse).catch((e: unknown) => e)).toBeInstanceOf(RangeError);
  expect(readdirSync(directory)).toEqual([]);
});
