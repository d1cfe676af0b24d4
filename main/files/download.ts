import { posix } from 'node:path';
import {
  encodeHeader,
  END_BYTES,
  paddingOf,
  TarError,
  type TarEntry,
} from '../../core/base/node/tar/header.ts';
import { TarReader } from '../../core/base/node/tar/reader.ts';
import {
  ContractError,
  DOWNLOAD_BYTES_MAX,
  FILE_CHUNK_BYTES_MAX,
  say,
  type DownloadItem,
} from '../../core/contract/index.ts';

/** A folder with more entries is not one that a person wants to have copied this way. */
export const ARCHIVE_ENTRIES_MAX = 100_000;
const MIB = 1024 * 1024;

/** `./name` is a file, whatever the name starts with; a file is read through links, a folder keeps its own. */
export const packCommand = (folder: string, name: string, isFolder: boolean): string[] => [
  'tar',
  isFolder ? '-cf' : '-chf',
  '-',
  '-C',
  folder,
  `./${name}`,
];

const tooLarge = (name: string): ContractError =>
  new ContractError(
    'Unavailable',
    say('failure.files.tooLarge', { name, max: `${DOWNLOAD_BYTES_MAX / MIB} MiB` }),
  );

function* chunked(bytes: Uint8Array): Generator<DownloadItem> {
  for (let at = 0; at < bytes.length; at += FILE_CHUNK_BYTES_MAX)
    yield {
      kind: 'bytes',
      base64: Buffer.from(bytes.subarray(at, at + FILE_CHUNK_BYTES_MAX)).toString('base64'),
    };
}

/** The content of the only file of an archive. */
export async function* fileOf(
  archive: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<DownloadItem> {
  const reader = new TarReader();
  let state: 'before' | 'inside' | 'after' = 'before';
  for await (const bytes of archive)
    for (const part of reader.push(bytes)) {
      if (part.part === 'entry' && state === 'before') {
        if (part.entry.type !== 'file')
          throw new ContractError('BadRequest', say('failure.files.notFile', { name }));
        if (part.entry.sizeBytes > DOWNLOAD_BYTES_MAX) throw tooLarge(name);
        state = 'inside';
        yield { kind: 'begin', sizeBytes: part.entry.sizeBytes };
      } else if (part.part === 'content' && state === 'inside') yield* chunked(part.bytes);
      else if (part.part === 'entry-end') state = 'after';
    }
  if (state === 'inside') throw new ContractError('Unavailable', say('failure.files.changed', { name }));
  // Without a file the container has said why on standard error.
  if (state === 'after') yield { kind: 'end', leftOut: 0 };
}

/** Below `root`, by its own name or by where it leads. */
const isWithin = (path: string, root: string): boolean => {
  const clean = posix.normalize(path);
  return !posix.isAbsolute(path) && (clean === root || clean.startsWith(`${root}/`));
};

/** `..` at the front alone: behind another link it would lead elsewhere than it reads. */
const isPlainTarget = (target: string): boolean => {
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const down = parts.findIndex((part) => part !== '..');
  return !posix.isAbsolute(target) && (down < 0 || !parts.slice(down).includes('..'));
};

/**
 * Entries as they may be unpacked anywhere without writing outside of the folder `root`; undefined for one that may not.
 * Nothing is kept below a link that was kept: there a name leads elsewhere than it reads.
 */
export const safeEntries = (root: string): ((entry: TarEntry) => TarEntry | undefined) => {
  const links = new Set<string>();
  const isBelowLink = (name: string): boolean => {
    for (let at = posix.dirname(name); at !== '.'; at = posix.dirname(at)) if (links.has(at)) return true;
    return false;
  };
  return (entry) => {
    const name = posix.normalize(entry.name).replace(/\/$/, '');
    if (!isWithin(name, root) || isBelowLink(name)) return undefined;
    if (entry.type === 'symlink') {
      const target = entry.target ?? '';
      if (!isPlainTarget(target) || !isWithin(posix.join(posix.dirname(name), target), root))
        return undefined;
      links.add(name);
      return { ...entry, name };
    }
    if (entry.type === 'link') {
      const target = posix.normalize(entry.target ?? '');
      return isWithin(target, root) && !isBelowLink(target) && !links.has(target)
        ? { ...entry, name, target }
        : undefined;
    }
    // A sender may set bits that give a file another owner's rights.
    const mode = entry.mode & 0o777;
    return entry.type === 'other' ? undefined : { ...entry, name, mode, target: undefined };
  };
};

/** A folder as an archive of our own: entries that lead out of it are left out and counted. */
export async function* folderOf(
  archive: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<DownloadItem> {
  const reader = new TarReader();
  const safe = safeEntries(name);
  let [sent, entries, leftOut] = [0, 0, 0];
  let kept: TarEntry | undefined;
  const emit = function* (bytes: Uint8Array): Generator<DownloadItem> {
    sent += bytes.length;
    if (sent > DOWNLOAD_BYTES_MAX) throw tooLarge(name);
    yield* chunked(bytes);
  };
  for await (const bytes of archive)
    for (const part of reader.push(bytes)) {
      if (part.part === 'entry') {
        if (entries === 0) yield { kind: 'begin', sizeBytes: null };
        entries += 1;
        if (entries > ARCHIVE_ENTRIES_MAX) throw tooLarge(name);
        kept = safe(part.entry);
        if (kept) yield* emit(encodeHeader(kept));
        else leftOut += 1;
      } else if (part.part === 'content' && kept) yield* emit(part.bytes);
      else if (part.part === 'entry-end' && kept) yield* emit(Buffer.alloc(paddingOf(kept.sizeBytes)));
    }
  if (entries === 0) return;
  if (reader.isInside) throw new ContractError('Unavailable', say('failure.files.changed', { name }));
  yield* emit(Buffer.alloc(END_BYTES));
  yield { kind: 'end', leftOut };
}

export const archiveFailure = (error: unknown, name: string): unknown =>
  error instanceof TarError && error.reason === 'TooLarge' ? tooLarge(name) : error;
