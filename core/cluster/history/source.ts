/** One stored key at a moment. */
export interface StoredKey {
  readonly key: string;
  readonly modRevision: number;
}

export interface StoredValue extends StoredKey {
  readonly createRevision: number;
  /** How often it was written since it was created. */
  readonly version: number;
  /** As stored: encrypted where the API servers encrypt it. */
  readonly value: Uint8Array;
}

/** Everything that API servers had stored at one moment. Iterations are in the order of keys. */
export interface Source {
  readonly revision: number;
  keys(prefix: string): AsyncIterable<StoredKey>;
  values(prefix: string): AsyncIterable<StoredValue>;
  read(key: string): Promise<StoredValue | undefined>;
}
