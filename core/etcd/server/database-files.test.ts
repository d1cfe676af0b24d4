import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { explainDamage, prepareDatabases } from './database-files.ts';
import { lmdbHouse } from './lmdb-house.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilothouse-database-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () =>
  lmdbHouse(folder, {
    clock: systemClock,
    commitIntervalMs: undefined,
    onCommitFailed: () => undefined,
  }).open();

/** The file of a database with a thousand entries. */
const database = async (): Promise<string> => {
  const backend = await open();
  for (let i = 0; i < 1000; i += 1) backend.put('key', Buffer.from(`key-${i}`), Buffer.alloc(200, 'v'));
  await backend.commit();
  await backend.close();
  const name = readdirSync(join(folder, 'db')).find((one) => one.endsWith('.lmdb'))!;
  return join(folder, 'db', name);
};

test('a folder without a database, and a sound one, are left as they are', async () => {
  await prepareDatabases(join(folder, 'nowhere'));
  const file = await database();
  const before = statSync(file).size;
  await prepareDatabases(folder);
  expect(statSync(file).size).toBe(before);
});

test('a file that is no database is refused before LMDB maps it', async () => {
  mkdirSync(join(folder, 'db-3'));
  writeFileSync(join(folder, 'db-3', 'db.1.lmdb'), Buffer.alloc(20_000, 'x'));
  await expect(prepareDatabases(folder)).rejects.toMatchObject({
    reason: 'Damaged',
    message: expect.stringMatching(
      /db-3\/db\.1\.lmdb is damaged and not a valid database; restore/,
    ) as string,
  });
});

test('a database that was cut off is an error that says what to do, and does not end the process', async () => {
  const file = await database();
  truncateSync(file, 2 * 4096);
  await prepareDatabases(folder);
  const read = async (): Promise<unknown> => {
    const backend = await open();
    try {
      return backend.range('key', Buffer.alloc(0), undefined, 10);
    } finally {
      await backend.close();
    }
  };
  await expect(
    read().catch((error: unknown) => Promise.reject(explainDamage(error, folder))),
  ).rejects.toThrow(
    /is damaged and not a valid database \(MDB_\w+: .*\); restore the directory from a backup/,
  );
});
