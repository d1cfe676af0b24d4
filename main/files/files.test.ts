import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeHeader, END_BYTES, paddingOf, type TarEntry } from '../../core/base/node/tar/header.ts';
import { TarReader } from '../../core/base/node/tar/reader.ts';
import { DOWNLOAD_BYTES_MAX, type DownloadItem } from '../../core/contract/index.ts';
import { fileOf, folderOf, packCommand, safeEntries } from './download.ts';
import { listingCommand, parseListing } from './listing.ts';

const MARK = 'f00d';

const inFolder = async (work: (folder: string) => Promise<void> | void): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** What the real programs of this machine say, with their complaints. */
const list = (folder: string) => {
  const [program = '', ...args] = listingCommand(folder, MARK);
  let output = '';
  try {
    output = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    output = String((error as { stdout?: unknown }).stdout);
  }
  return parseListing(output, folder, MARK).entries.map(({ name, type, isLink, sizeBytes }) => [
    name,
    type,
    isLink,
    type === 'file' ? sizeBytes : 0,
  ]);
};

test('a folder is listed with links, hidden files and names of any characters', () =>
  inFolder((folder) => {
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, '.hidden'), 'ab');
    writeFileSync(join(folder, '-rf *'), '');
    // A name that looks like another entry of the listing.
    writeFileSync(join(folder, `x\nfeed own 81a4 9 9 ${folder.replaceAll('/', '_')}`), 'abc');
    symlinkSync('sub', join(folder, 'to-folder'));
    symlinkSync('.hidden', join(folder, 'to-file'));
    symlinkSync('nowhere', join(folder, 'broken'));
    expect(list(folder)).toEqual([
      ['sub', 'directory', false, 0],
      ['to-folder', 'directory', true, 0],
      ['-rf *', 'file', false, 0],
      ['.hidden', 'file', false, 2],
      ['broken', 'other', true, 0],
      ['to-file', 'file', true, 2],
      [expect.stringContaining('x\nfeed own'), 'file', false, 3],
    ]);
    expect(list(join(folder, 'to-folder'))).toEqual([]);
  }));

const packed = (folder: string, name: string, isFolder: boolean): Buffer => {
  const [program = '', ...args] = packCommand(folder, name, isFolder);
  return execFileSync(program, args);
};

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 999) yield bytes.subarray(at, at + 999);
}

const gather = async (items: AsyncIterable<DownloadItem>) => {
  const found: DownloadItem[] = [];
  const bytes: Buffer[] = [];
  for await (const item of items)
    if (item.kind === 'bytes') bytes.push(Buffer.from(item.base64, 'base64'));
    else found.push(item);
  return { items: found, bytes: Buffer.concat(bytes) };
};

test('a file comes as it is, through a link and under a name like an option', () =>
  inFolder(async (folder) => {
    const content = Buffer.from(Array.from({ length: 3000 }, (_, at) => at % 256));
    writeFileSync(join(folder, '--checkpoint=1'), content);
    symlinkSync('--checkpoint=1', join(folder, 'link'));
    for (const name of ['--checkpoint=1', 'link'])
      expect(await gather(fileOf(inChunks(packed(folder, name, false)), name)), name).toEqual({
        items: [
          { kind: 'begin', sizeBytes: 3000 },
          { kind: 'end', leftOut: 0 },
        ],
        bytes: content,
      });
  }));

test('a folder comes as an archive that holds what is in it, without links that lead out', () =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, 'app', 'sub'), { recursive: true });
    writeFileSync(join(folder, 'app', 'sub', 'x'), 'content');
    symlinkSync('sub/x', join(folder, 'app', 'inside'));
    symlinkSync('/etc/passwd', join(folder, 'app', 'absolute'));
    symlinkSync('../../..', join(folder, 'app', 'upwards'));
    const { items, bytes } = await gather(folderOf(inChunks(packed(folder, 'app', true)), 'app'));
    expect(items.at(-1)).toEqual({ kind: 'end', leftOut: 2 });
    const names = execFileSync('tar', ['-tf', '-'], { input: bytes, encoding: 'utf8' });
    expect(names.trim().split('\n').sort()).toEqual(['app/', 'app/inside', 'app/sub/', 'app/sub/x']);
    expect(execFileSync('tar', ['-xOf', '-', 'app/sub/x'], { input: bytes, encoding: 'utf8' })).toBe(
      'content',
    );
  }));

const entry = (given: Partial<TarEntry> & { name: string }): TarEntry => ({
  type: 'file',
  sizeBytes: 0,
  mode: 0o644,
  mtimeMs: 0,
  ...given,
});
const link = (name: string, target: string): TarEntry => entry({ name, type: 'symlink', target });

test.each<[string, readonly TarEntry[], boolean]>([
  ['an absolute name', [entry({ name: '/etc/passwd' })], false],
  ['a name that leads out', [entry({ name: 'app/../../x' })], false],
  ['a sibling with the same beginning', [entry({ name: 'app2/x' })], false],
  ['a device', [entry({ name: 'app/null', type: 'other' })], false],
  ['a file below a link', [link('app/l', 'sub'), entry({ name: 'app/l/x' })], false],
  ['a link that climbs through another', [link('app/a/l', '.'), link('app/m', 'a/l/../..')], false],
  ['a hard link to a file outside', [entry({ name: 'app/h', type: 'link', target: '/etc/shadow' })], false],
  [
    'a hard link through a link',
    [link('app/l', 'sub'), entry({ name: 'app/h', type: 'link', target: 'app/l/x' })],
    false,
  ],
  ['a link to a neighbour', [link('app/sub/l', '../x')], true],
  ['a file', [entry({ name: './app/x' })], true],
])('%s', (_what, entries, isKept) => {
  const safe = safeEntries('app');
  expect(entries.map(safe).at(-1) !== undefined).toBe(isKept);
});

test('bits that lend rights are taken off', () => {
  expect(safeEntries('app')(entry({ name: 'app/x', mode: 0o4755 }))?.mode).toBe(0o755);
});

const archive = (...entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([
    ...entries.flatMap((each) => [
      encodeHeader(each),
      Buffer.alloc(each.sizeBytes + paddingOf(each.sizeBytes)),
    ]),
    Buffer.alloc(END_BYTES),
  ]);

test('a file that claims to be huge, is cut off or is something else is refused', async () => {
  const huge = encodeHeader(entry({ name: './f', sizeBytes: DOWNLOAD_BYTES_MAX + 1 }));
  await expect(gather(fileOf(inChunks(huge), 'f'))).rejects.toThrow('f is larger than 512 MiB');
  await expect(
    gather(folderOf(inChunks(archive(entry({ name: 'f/x', sizeBytes: 2000 })).subarray(0, 1500)), 'f')),
  ).rejects.toThrow('changed while it was read');
  await expect(gather(fileOf(inChunks(archive(link('./f', '/etc'))), 'f'))).rejects.toThrow('not a file');
  await expect(gather(fileOf(inChunks(Buffer.alloc(4096, 1)), 'f'))).rejects.toThrow('not a tar archive');
});

test('an archive of our own reads as it was written', async () => {
  const { bytes } = await gather(
    folderOf(inChunks(archive(entry({ name: `f/${'d/'.repeat(80)}x`, sizeBytes: 700 }))), 'f'),
  );
  const reader = new TarReader();
  expect([...reader.push(bytes)].filter(({ part }) => part === 'entry')).toHaveLength(1);
  expect(reader.isEnded).toBe(true);
});
