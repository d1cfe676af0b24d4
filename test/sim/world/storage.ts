import type { Clock } from '../../../core/base/clock.ts';
import type { Disk, DiskFile } from '../../../core/base/disk.ts';
import type { Random } from '../../../core/base/random.ts';
import type { BackendHouse, StagedBackend } from '../../../core/etcd/member/ports.ts';
import type { Backend } from '../../../core/etcd/mvcc/backend/backend.ts';
import { MemoryDatabase } from '../../../core/etcd/mvcc/backend/memory-engine.ts';
import type { Process } from './process.ts';

/** What a call of a dead process comes back to. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Called at every point where a crash could make a difference; the machine may crash inside. */
export type Step = (where: string) => void;

/** The disk as one process sees it: each step may be its last, and the dead touch nothing. */
export const steppedDisk = (disk: Disk, process: Process, step: Step): Disk => {
  const guarded = async <T>(where: string, run: () => Promise<T>): Promise<T> => {
    if (process.isAlive) step(where);
    if (!process.isAlive) return never();
    const result = await run();
    return process.isAlive ? result : never();
  };
  const wrap = (file: DiskFile): DiskFile => ({
    size: () => guarded('size', () => file.size()),
    read: (offset, length) => guarded('read', () => file.read(offset, length)),
    write: (offset, chunks) => guarded('write', () => file.write(offset, chunks)),
    allocate: (length) => guarded('allocate', () => file.allocate(length)),
    truncate: (length) => guarded('truncate', () => file.truncate(length)),
    async writeDurably(offset, chunks) {
      await guarded('before write', () => file.write(offset, chunks));
      await guarded('before sync', () => file.sync());
      await guarded('after sync', () => Promise.resolve());
    },
    sync: () => guarded('sync', () => file.sync()),
    close: () => guarded('close', () => file.close()),
  });
  return {
    open: (path, options) => guarded('open', async () => wrap(await disk.open(path, options))),
    list: (directory) => guarded('list', () => disk.list(directory)),
    makeDirectory: (directory) => guarded('mkdir', () => disk.makeDirectory(directory)),
    rename: (from, to) => guarded('rename', () => disk.rename(from, to)),
    remove: (path) => guarded('remove', () => disk.remove(path)),
    syncDirectory: (directory) => guarded('sync directory', () => disk.syncDirectory(directory)),
  };
};

export interface HouseOptions {
  readonly clock: Clock;
  readonly process: Process;
  readonly random: Random;
  readonly step: Step;
  readonly commitIntervalMs: number;
  readonly commitMsMax: number;
}

/** The databases of one machine. They outlive processes; a crash leaves what was committed. */
export class SimDatabases {
  #current = new MemoryDatabase();
  #staged: MemoryDatabase | undefined;

  crash(): void {
    this.#current.crash();
    this.#staged?.crash();
    this.#staged = undefined;
  }

  house(options: HouseOptions): BackendHouse {
    const { process, step } = options;
    return {
      open: () => Promise.resolve(this.#open(this.#current, options)),
      stage: async (): Promise<StagedBackend> => {
        const database = new MemoryDatabase();
        this.#staged = database;
        const backend = this.#open(database, options);
        return {
          backend,
          promote: async () => {
            await backend.commit();
            step('before promotion');
            if (!process.isAlive) return never();
            this.#current = database;
            this.#staged = undefined;
            step('after promotion');
            return process.isAlive ? undefined : never();
          },
          retireFormer: () => Promise.resolve(),
          discard: async () => {
            await backend.close();
            if (process.isAlive && this.#staged === database) this.#staged = undefined;
          },
        };
      },
    };
  }

  #open(database: MemoryDatabase, options: HouseOptions): Backend {
    const { clock, process, random, step, commitMsMax, commitIntervalMs } = options;
    return database.open({
      clock,
      commitIntervalMs,
      beforeCommit: async () => {
        if (process.isAlive) step('before commit');
        if (!process.isAlive) return never();
        await new Promise<void>((resolve) => clock.after(random.next() * commitMsMax, resolve));
      },
    });
  }
}
