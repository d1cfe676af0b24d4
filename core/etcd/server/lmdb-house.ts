import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeDisk } from '../../base/node/disk.ts';
import type { BufferedBackendOptions } from '../mvcc/backend/buffered-backend.ts';
import { openLmdbBackend } from '../mvcc/backend/lmdb-engine.ts';
import type { BackendHouse } from '../member/ports.ts';

/**
 * The database folder of a member and the one beside it in which a leader's state arrives. The new one takes
 * its place by two renames; whatever a crash leaves between them, `open` finds the old or the new one whole.
 */
export const lmdbHouse = (memberDirectory: string, options: BufferedBackendOptions): BackendHouse => {
  const current = join(memberDirectory, 'db');
  const staged = join(memberDirectory, 'db.received');
  const former = join(memberDirectory, 'db.former');
  return {
    async open() {
      await nodeDisk.makeDirectory(memberDirectory);
      if (!existsSync(current) && existsSync(former)) await rename(former, current);
      await rm(staged, { recursive: true, force: true });
      await rm(former, { recursive: true, force: true });
      return openLmdbBackend(current, options);
    },
    async stage() {
      await rm(staged, { recursive: true, force: true });
      const backend = await openLmdbBackend(staged, options);
      return {
        backend,
        async promote() {
          await backend.close();
          await rename(current, former);
          await rename(staged, current);
          await nodeDisk.syncDirectory(memberDirectory);
          await rm(former, { recursive: true, force: true });
          return openLmdbBackend(current, options);
        },
        async discard() {
          await backend.close();
          await rm(staged, { recursive: true, force: true });
        },
      };
    },
  };
};
