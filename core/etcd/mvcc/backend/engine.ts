import type { BackendSize, Bucket, Entry } from './backend.ts';

/** `value` undefined deletes. */
export interface Write {
  readonly bucket: Bucket;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export interface EngineReader {
  get(bucket: Bucket, key: Uint8Array): Buffer | undefined;
  range(bucket: Bucket, from: Uint8Array, to: Uint8Array | undefined, limit: number): Entry[];
}

export interface EngineSnapshot extends EngineReader {
  dispose(): void;
}

/** What a backend keeps its committed state in. Reads see the last resolved commit. */
export interface Engine extends EngineReader {
  /** All or nothing, durable when it resolves. Never called again before that. */
  commit(writes: readonly Write[]): Promise<void>;
  snapshot(): EngineSnapshot;
  /** No commit runs at the same time. */
  defragment(): Promise<void>;
  size(): BackendSize;
  close(): Promise<void>;
}
