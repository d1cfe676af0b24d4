import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DiskFile } from '../../base/disk.ts';

/** The little of a file that reading a snapshot needs; every `DiskFile` is one. */
export type RandomAccess = Pick<DiskFile, 'size' | 'read'>;

export const memoryFile = (bytes: Uint8Array): RandomAccess => ({
  size: () => Promise.resolve(bytes.length),
  read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
});

/** Read-only, so that a snapshot on a read-only backup volume opens too. The caller closes it. */
export const openReadOnly = async (path: string): Promise<RandomAccess & { close(): Promise<void> }> => {
  const handle = await open(path, constants.O_RDONLY);
  return {
    size: async () => (await handle.stat()).size,
    async read(offset, length) {
      const into = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(into, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return into.subarray(0, filled);
    },
    close: () => handle.close(),
  };
};
