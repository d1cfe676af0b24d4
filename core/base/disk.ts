/**
 * Files as an input, so that simulations can lose, tear and delay what was not synced.
 * Nothing is durable before `sync` (file contents) and `syncDirectory` (names) have resolved.
 */
export interface Disk {
  open(path: string, options: { readonly create: boolean }): Promise<DiskFile>;
  /** Names in a folder, sorted; an absent folder is empty. */
  list(directory: string): Promise<string[]>;
  makeDirectory(directory: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncDirectory(directory: string): Promise<void>;
}

/** Syncs nothing: what a machine loses with its power is lost. For members that are thrown away after a test. */
export const withoutSync = (disk: Disk): Disk => ({
  ...disk,
  async open(path, options) {
    const file = await disk.open(path, options);
    return {
      ...file,
      writeDurably: (offset, chunks) => file.write(offset, chunks),
      sync: () => Promise.resolve(),
    };
  },
  syncDirectory: () => Promise.resolve(),
});

export interface DiskFile {
  size(): Promise<number>;
  /** Fewer bytes than asked for only at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** Writes all chunks one after the other from `offset`. */
  write(offset: number, chunks: readonly Uint8Array[]): Promise<void>;
  /** Reserves space up to `length` without changing what is there; new space reads as zeros. */
  allocate(length: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** `write` and `sync` in one trip: the hot path of a log. */
  writeDurably(offset: number, chunks: readonly Uint8Array[]): Promise<void>;
  /** fdatasync: what was written before the call is durable when it resolves. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
