import type { Clock } from '../../../core/base/clock.ts';
import type { Disk, DiskFile } from '../../../core/base/disk.ts';
import type { Backend } from '../../../core/etcd/mvcc/backend/backend.ts';
import type { Mutant } from './mutant.ts';

const INDEX_LATE_MS = 40;

const lyingFile = (file: DiskFile): DiskFile => ({
  size: () => file.size(),
  read: (offset, length) => file.read(offset, length),
  write: (offset, chunks) => file.write(offset, chunks),
  allocate: (length) => file.allocate(length),
  truncate: (length) => file.truncate(length),
  writeDurably: (offset, chunks) => file.write(offset, chunks),
  sync: () => Promise.resolve(),
  close: () => file.close(),
});

/** Entries are acknowledged before they are on disk. */
export const lyingSync: Mutant = {
  name: 'what was acknowledged was not synced',
  foundBy: [
    'acknowledged write lost',
    'linearizability',
    'real-time order',
    'log matching',
    'same state',
    'member failed',
    'applied once',
    'election safety',
  ],
  disk: (disk: Disk): Disk => ({
    list: (directory) => disk.list(directory),
    makeDirectory: (directory) => disk.makeDirectory(directory),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    syncDirectory: (directory) => disk.syncDirectory(directory),
    open: async (path, options) => lyingFile(await disk.open(path, options)),
  }),
};

const overridden = (backend: Backend, changes: Partial<Backend>): Backend => ({
  get consistentIndex() {
    return backend.consistentIndex;
  },
  get term() {
    return backend.term;
  },
  get openSnapshots() {
    return backend.openSnapshots;
  },
  get: (bucket, key) => backend.get(bucket, key),
  range: (bucket, from, to, limit) => backend.range(bucket, from, to, limit),
  put: (bucket, key, value) => backend.put(bucket, key, value),
  delete: (bucket, key) => backend.delete(bucket, key),
  setConsistentIndex: (index, term) => backend.setConsistentIndex(index, term),
  commit: () => backend.commit(),
  whenWritable: () => backend.whenWritable(),
  snapshot: () => backend.snapshot(),
  defragment: () => backend.defragment(),
  size: () => backend.size(),
  close: () => backend.close(),
  ...changes,
});

/** The consistent index becomes durable some time after what it stands for. */
const lateIndex = (backend: Backend, clock: Clock): Backend => {
  let told = { index: backend.consistentIndex, term: backend.term };
  const late = overridden(backend, {
    setConsistentIndex: (index, term) => {
      told = { index, term };
      clock.after(INDEX_LATE_MS, () => backend.setConsistentIndex(index, term));
    },
  });
  Object.defineProperty(late, 'consistentIndex', { get: () => told.index });
  Object.defineProperty(late, 'term', { get: () => told.term });
  return late;
};

export const indexApart: Mutant = {
  name: 'changes and their index are committed apart',
  // A member whose index fell behind its trimmed log refuses to start, and says why.
  foundBy: ['same state', 'applied once', 'hash', 'member failed'],
  backends: (house, clock) => ({
    open: async () => lateIndex(await house.open(), clock),
    stage: () => house.stage(),
  }),
};

/** One row of each state that comes from the leader gets lost. */
export const lostRow: Mutant = {
  name: 'a state is taken over with a row missing',
  foundBy: ['hash', 'same state', 'watch', 'linearizability', 'lease'],
  backends: (house) => ({
    open: () => house.open(),
    async stage() {
      const staged = await house.stage();
      let isLost = false;
      const backend = overridden(staged.backend, {
        put: (bucket, key, value) => {
          if (bucket === 'key' && !isLost) isLost = true;
          else staged.backend.put(bucket, key, value);
        },
      });
      return { ...staged, backend };
    },
  }),
};
