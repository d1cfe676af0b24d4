import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { open } from 'lmdb';
import { assertMemberFiles } from './member-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-member-'));
  mkdirSync(join(folder, 'db'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a database, an empty file of a first start that was cut off, and no database pass', async () => {
  await assertMemberFiles(folder);
  writeFileSync(join(folder, 'db', 'db.2.lmdb'), '');
  const database = open({ path: join(folder, 'db', 'db.1.lmdb'), noSubdir: true });
  await database.put('a', 'b');
  await database.close();
  await expect(assertMemberFiles(folder)).resolves.toBeUndefined();
});

test('what is no database is not opened', async () => {
  writeFileSync(join(folder, 'db', 'db.1.lmdb'), Buffer.alloc(16_384, 0xa5));
  await expect(assertMemberFiles(folder)).rejects.toMatchObject({
    reason: 'Damaged',
    message: /db\.1\.lmdb is damaged and no database; put the folder back/,
  });
});
