import { constants, fdatasync, writevSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import type { Disk, DiskFile } from '../disk.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** Up to here a write into the page cache costs less than handing it to a thread and back. */
const INLINE_WRITE_BYTES_MAX = 256 * 1024;
const ZEROS = new Uint8Array(1024 * 1024);

let syncDelayMs = 0;

/** For rehearsals: every sync of this thread takes this much longer from now on. */
export const slowSyncs = (delayMs: number): void => {
  syncDelayMs = delayMs;
};

const delayed = async (): Promise<void> => {
  if (syncDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, syncDelayMs));
};

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
    // Node has no fallocate, and space that was only reserved still costs each later fdatasync an update of
    // the extents. Real zeros leave nothing but data to sync.
    let { size } = await handle.stat();
    while (size < length) {
      const { bytesWritten } = await handle.write(ZEROS, 0, Math.min(ZEROS.byteLength, length - size), size);
      size += bytesWritten;
    }
  },
  truncate: (length) => handle.truncate(length),
  async writeDurably(offset, chunks) {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    if (bytes > INLINE_WRITE_BYTES_MAX || writevSync(handle.fd, chunks, offset) < bytes)
      await this.write(offset, chunks);
    if (syncDelayMs > 0) await delayed();
    await new Promise<void>((resolve, reject) =>
      fdatasync(handle.fd, (error) => (error ? reject(error) : resolve())),
    );
  },
  async sync() {
    await delayed();
    await handle.datasync();
  },
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
    // Windows cannot open a folder for syncing, and its file system journals names on its own.
    if (process.platform === 'win32') return;
    const handle = await open(directory, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
