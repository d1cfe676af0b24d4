import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { treeDigest } from '../resources/setup/tree-digest.mjs';
import { verifiedCache } from '../resources/setup/verified-cache.mjs';

let scratch: string;
let folder: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'pilothouse-cache-'));
  folder = join(scratch, 'electron');
});
afterEach(() => rmSync(scratch, { recursive: true }));

const fill = (): void => {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin/electron'), 'reviewed');
  writeFileSync(join(folder, 'README.md'), 'text');
};

const use = async (digest: string, refill: () => void = fill) => {
  let fetched = 0;
  const missing = await verifiedCache({
    folder,
    digest,
    log: () => undefined,
    fetch: () => {
      fetched += 1;
      refill();
      return Promise.resolve(undefined);
    },
  });
  return { missing, fetched, electron: readFileSync(join(folder, 'bin/electron'), 'utf8') };
};

test('an unchanged cache is used as it is', async () => {
  fill();
  expect(await use((await treeDigest(folder))!)).toEqual({
    missing: undefined,
    fetched: 0,
    electron: 'reviewed',
  });
});

test.each<[string, () => void]>([
  ['a changed file', () => writeFileSync(join(folder, 'bin/electron'), 'tampered')],
  ['a file that was added', () => writeFileSync(join(folder, 'bin/preloaded.so'), 'evil')],
  ['a file that was removed', () => rmSync(join(folder, 'README.md'))],
  [
    'a file that is now a link',
    () => {
      writeFileSync(join(scratch, 'electron-elsewhere'), 'reviewed');
      rmSync(join(folder, 'bin/electron'));
      symlinkSync(join(scratch, 'electron-elsewhere'), join(folder, 'bin/electron'));
    },
  ],
])('a cache with %s is fetched again', async (_what, tamper) => {
  fill();
  const digest = (await treeDigest(folder))!;
  tamper();
  expect(await use(digest)).toEqual({ missing: undefined, fetched: 1, electron: 'reviewed' });
});

test('a download with the wrong checksum is not used', async () => {
  const { missing } = await use('0'.repeat(64));
  expect(missing).toMatch(/does not match its recorded digest after it was fetched; it is not used/);
});

test('no script of a dependency runs when it is installed', () => {
  expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('ignore-scripts=true');
});
