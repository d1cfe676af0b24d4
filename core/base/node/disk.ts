import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import type { Disk, DiskFile } from '../disk.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

const fileOver = (handle: FileHandle): DiskFile => ({
  size: async () => (await handle.stat()).size,
  async read(offset, length) {
    const into = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await handle.read(into, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return into.subarray(0, filled);
  },
  async write(offset, chunks) {
    let remaining = chunks.filter((chunk) => chunk.byteLength > 0);
    let position = offset;
    while (remaining.length > 0) {
      const { bytesWritten } = await handle.writev(remaining, position);
      position += bytesWritten;
      remaining = withoutPrefix(remaining, bytesWritten);
    }
  },
  async allocate(length) {
    // Node has no fallocate. Growing the file keeps later appends from changing its size, so that
    // fdatasync need not write the inode each time.
    if ((await handle.stat()).size < length) await handle.truncate(length);
  },
  truncate: (length) => handle.truncate(length),
  sync: () => handle.datasync(),
  close: () => handle.close(),
});

const withoutPrefix = (chunks: readonly Uint8Array[], length: number): Uint8Array[] => {
  const rest: Uint8Array[] = [];
  let skip = length;
  for (const chunk of chunks) {
    if (skip >= chunk.byteLength) skip -= chunk.byteLength;
    else {
      rest.push(chunk.subarray(skip));
      skip = 0;
    }
  }
  return rest;
};

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

export const nodeDisk: Disk = {
  async open(path, { create }) {
    const flags = create ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR;
    return fileOver(await open(path, flags, FILE_MODE));
  },
  async list(directory) {
    try {
      return (await readdir(directory)).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },
  async makeDirectory(directory) {
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true }),
  async syncDirectory(directory) {
    // Windows cannot open a folder for syncing, and its file system journals names by itself.
    if (process.platform === 'win32') return;
    const handle = await open(directory, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
