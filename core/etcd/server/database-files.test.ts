import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { seededRandom } from '../../base/random.ts';
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

test('a database that was cut off is an error that says what to do', async () => {
  const file = await database();
  truncateSync(file, 2 * 4096);
  await expect(prepareDatabases(folder)).rejects.toThrow(
    /db\.1\.lmdb is damaged and not a valid database \(page \d+ .*\); restore the directory from a backup/,
  );
});

test('damage that LMDB reports later is explained the same way', () => {
  expect(String(explainDamage(new Error('MDB_CORRUPTED: Located page was wrong type'), '/data'))).toMatch(
    /\/data is damaged and not a valid database \(MDB_CORRUPTED: .*\); restore the directory from a backup/,
  );
  const other = new Error('no space left');
  expect(explainDamage(other, '/data')).toBe(other);
});

test('databases that are in use for long are sound: large values, deletions, free pages, defragmentation', async () => {
  const random = seededRandom(7);
  const backend = await open();
  for (let round = 0; round < 30; round += 1) {
    for (let i = 0; i < 40; i += 1) {
      const key = Buffer.from(`key-${random.below(400)}`);
      const bytes = random.below(10) === 0 ? random.below(200_000) : random.below(900);
      if (random.below(3) === 0) backend.delete('key', key);
      else backend.put('key', key, Buffer.alloc(bytes, 'v'));
    }
    await backend.commit();
    if (round % 10 === 9) await backend.defragment();
    await expect(prepareDatabases(folder)).resolves.toBeUndefined();
  }
  await backend.close();
});

const PAGE_BYTES = 4096;

test('pages that LMDB would follow out of the file are refused with one line', async () => {
  const file = await database();
  const sound = readFileSync(file);
  const random = seededRandom(11);
  const noise = (bytes: number): Buffer =>
    Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
  const verdict = (damage: (bytes: Buffer) => void): Promise<void> => {
    const bytes = Buffer.from(sound);
    damage(bytes);
    writeFileSync(file, bytes);
    return prepareDatabases(folder);
  };
  const metas = [0, 1].map((page) => sound.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
  const [newest] = metas.sort((a, b) => Number(b.readBigUInt64LE(24 + 128) - a.readBigUInt64LE(24 + 128)));
  const main = Number(newest!.readBigUInt64LE(24 + 24 + 48 + 40)) * PAGE_BYTES;
  const line = /^\S+db\.1\.lmdb is damaged and not a valid database \([^\n]+\); restore[^\n]+$/;
  for (const damage of [
    (bytes: Buffer) => void bytes.set(noise(bytes.length - 2 * PAGE_BYTES), 2 * PAGE_BYTES),
    (bytes: Buffer) => void bytes.set(noise(24), main),
    (bytes: Buffer) => void bytes.writeUInt16LE(0xfff0, main + 20),
    (bytes: Buffer) => void bytes.writeUInt16LE(PAGE_BYTES, main + 24),
    (bytes: Buffer) => void bytes.writeUInt16LE(1, main + 18),
  ])
    await expect(verdict(damage)).rejects.toThrow(line);
  await expect(verdict(() => undefined)).resolves.toBeUndefined();
});
