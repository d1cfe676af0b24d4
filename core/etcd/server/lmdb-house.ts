import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { nodeDisk } from '../../base/node/disk.ts';
import type { BackendHouse } from '../member/ports.ts';
import type { BufferedBackendOptions } from '../mvcc/backend/buffered-backend.ts';
import { openLmdbBackend } from '../mvcc/backend/lmdb-engine.ts';

const FIRST = 'db';
const NUMBERED = /^db-(\d+)$/;
/** Names the database folder in use, once it is not the first. */
const POINTER = 'CURRENT';

const numberOf = (name: string): number => Number(NUMBERED.exec(name)?.[1] ?? 1);

/**
 * The database folders of a member. A state that comes from the leader is filled into a new folder, and
 * takes the place of the old one when the pointer is replaced: a single durable rename, so that a crash
 * leaves the old or the new state, whole. Folders that the pointer does not name are left-overs.
 */
export const lmdbHouse = (memberDirectory: string, options: BufferedBackendOptions): BackendHouse => {
  const pointer = join(memberDirectory, POINTER);
  const currentName = async (): Promise<string> => {
    try {
      const name = (await readFile(pointer, 'utf8')).trim();
      return NUMBERED.test(name) ? name : FIRST;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return FIRST;
      throw error;
    }
  };
  const remove = (name: string): Promise<void> =>
    rm(join(memberDirectory, name), { recursive: true, force: true });
  return {
    async open() {
      await nodeDisk.makeDirectory(memberDirectory);
      const current = await currentName();
      for (const name of await readdir(memberDirectory))
        if ((name === FIRST || NUMBERED.test(name)) && name !== current) await remove(name);
      return openLmdbBackend(join(memberDirectory, current), options);
    },
    async stage() {
      const former = await currentName();
      const name = `db-${numberOf(former) + 1}`;
      await remove(name);
      const backend = await openLmdbBackend(join(memberDirectory, name), options);
      return {
        backend,
        async promote() {
          await nodeDisk.syncDirectory(memberDirectory);
          await writeFileAtomically(pointer, name);
        },
        retireFormer: () => remove(former),
        async discard() {
          await backend.close();
          await remove(name);
        },
      };
    },
  };
};
