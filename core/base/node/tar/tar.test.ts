import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeHeader, END_BYTES, paddingOf, type TarEntry } from './header.ts';
import { META_BYTES_MAX, TarReader } from './reader.ts';

const archive = (entries: readonly (Partial<TarEntry> & { name: string; content?: string })[]): Buffer =>
  Buffer.concat([
    ...entries.flatMap(({ content = '', ...entry }) => {
      const bytes = Buffer.from(content);
      const given = { type: 'file', mode: 0o644, mtimeMs: 1_700_000_000_000, ...entry } as const;
      return [
        encodeHeader({ ...given, sizeBytes: bytes.length }),
        bytes,
        Buffer.alloc(paddingOf(bytes.length)),
      ];
    }),
    Buffer.alloc(END_BYTES),
  ]);

const read = (bytes: Uint8Array, chunkBytes = bytes.length) => {
  const reader = new TarReader();
  const found: { entry: TarEntry; content: Buffer }[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    for (const part of reader.push(bytes.subarray(at, at + chunkBytes))) {
      if (part.part === 'entry') found.push({ entry: part.entry, content: Buffer.alloc(0) });
      const last = found.at(-1);
      if (part.part === 'content' && last) last.content = Buffer.concat([last.content, part.bytes]);
    }
  return { reader, found };
};

const LONG = `${'folder/'.repeat(30)}ü file.txt`;

test.each([1, 7, 512, 100_000])('an archive in chunks of %i bytes reads as it was written', (chunkBytes) => {
  const { reader, found } = read(
    archive([
      { name: 'a.txt', content: 'hello' },
      { name: LONG, content: 'x'.repeat(1024) },
      { name: 'dir', type: 'directory', mode: 0o755 },
      { name: 'link', type: 'symlink', target: '../'.repeat(60) },
      { name: 'empty' },
    ]),
    chunkBytes,
  );
  expect(found.map(({ entry, content }) => [entry.name, entry.type, content.length, entry.mode])).toEqual([
    ['a.txt', 'file', 5, 0o644],
    [LONG, 'file', 1024, 0o644],
    ['dir/', 'directory', 0, 0o755],
    ['link', 'symlink', 0, 0o644],
    ['empty', 'file', 0, 0o644],
  ]);
  expect(found[3]?.entry.target).toBe('../'.repeat(60));
  expect(reader.isEnded).toBe(true);
});

test.each(['gnu', 'pax', 'ustar', 'v7'])('an archive of the system tar in format %s is read', (format) => {
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    const deep = `${'d'.repeat(60)}/${'f'.repeat(30)}`;
    const long = ['gnu', 'pax'].includes(format) ? `${'d'.repeat(60)}/${'g'.repeat(200)} ü` : `${deep}2`;
    mkdirSync(join(folder, 'd'.repeat(60)));
    writeFileSync(join(folder, deep), 'content');
    writeFileSync(join(folder, long), 'long');
    symlinkSync('/etc/passwd', join(folder, 'link'));
    const bytes = execFileSync('tar', [`--format=${format}`, '-cf', '-', '-C', folder, deep, long, 'link']);
    expect(
      read(bytes, 1000).found.map(({ entry, content }) => [entry.name, entry.type, String(content)]),
    ).toEqual([
      [deep, 'file', 'content'],
      [long, 'file', 'long'],
      ['link', 'symlink', ''],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the system tar reads what is written here', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    const input = archive([
      { name: 'plain', content: 'a' },
      { name: LONG, content: 'b'.repeat(700) },
    ]);
    execFileSync('tar', ['-xmf', '-', '-C', folder], { input });
    expect(readFileSync(join(folder, LONG), 'utf8')).toBe('b'.repeat(700));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('noise, a damaged header and an endless name are refused', () => {
  const good = archive([{ name: 'a', content: 'x' }]);
  const bent = Buffer.from(good);
  bent[0] = 0x62;
  const endless = encodeHeader({
    name: 'a',
    type: 'file',
    sizeBytes: META_BYTES_MAX + 1,
    mode: 0,
    mtimeMs: 0,
  });
  endless.write('L', 156);
  const sum = endless.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  endless.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  expect(() => read(Buffer.alloc(2048, 0x41))).toThrow('not a tar archive');
  expect(() => read(bent)).toThrow('wrong checksum');
  expect(() => read(endless)).toThrow(`larger than ${META_BYTES_MAX} bytes`);
});
