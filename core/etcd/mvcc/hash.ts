import { BUCKETS, META, type BackendSnapshot } from './backend/backend.ts';
import { crc32c } from '../../base/crc32c.ts';
import { decodeRevision, isTombstone, type Revision } from './revision.ts';

export interface KeyValueHash {
  readonly hash: number;
  readonly compactRevision: number;
  readonly revision: number;
}

/** A revision as a key of sets: sub revisions are small, so nearly always a number. */
export const revisionName = ({ main, sub }: Revision): number | string =>
  sub < 1024 ? main * 1024 + sub : `${main}_${sub}`;

/**
 * etcd's hash of the revisions up to one revision, equal on members (ours or etcd's) with the same history,
 * however far their compaction has come. What a compaction will drop, or an older etcd would have dropped, is
 * left out.
 */
export class KeyValueHasher {
  readonly #compactRevision: number;
  readonly #revision: number;
  readonly #isKept: (revision: Revision, stored: Buffer) => boolean;
  #hash = crc32c(0, Buffer.from('key'));

  constructor(options: {
    readonly compactRevision: number;
    readonly revision: number;
    /** Whether a revision at or below the compaction outlives it. */
    readonly isKept: (revision: Revision, stored: Buffer) => boolean;
  }) {
    this.#compactRevision = options.compactRevision;
    this.#revision = options.revision;
    this.#isKept = options.isKept;
  }

  write(key: Buffer, stored: Buffer): void {
    const revision = decodeRevision(key);
    if (revision.main > this.#revision) return;
    if (revision.main <= this.#compactRevision && !this.#isKept(revision, stored)) return;
    if (revision.main === this.#compactRevision && isTombstone(key)) return;
    this.#hash = crc32c(crc32c(this.#hash, key), stored);
  }

  result(): KeyValueHash {
    return { hash: this.#hash, compactRevision: this.#compactRevision, revision: this.#revision };
  }
}

/** etcd's hash of all buckets, without what legitimately differs between members. */
export const hashBuckets = async (snapshot: BackendSnapshot, pause: () => Promise<void>): Promise<number> => {
  const ignored = [META.consistentIndex, META.term, META.storageVersion];
  let hash = 0;
  let sinceLastPause = 0;
  for (const bucket of BUCKETS) {
    hash = crc32c(hash, Buffer.from(bucket));
    for (const { key, value } of snapshot.entries(bucket)) {
      if (bucket === 'meta' && ignored.some((name) => name.equals(key))) continue;
      hash = crc32c(crc32c(hash, key), value);
      sinceLastPause += 1;
      if (sinceLastPause % HASH_CHUNK === 0) await pause();
    }
  }
  return hash;
};

/** Entries hashed between two pauses of the event loop. */
export const HASH_CHUNK = 2_000;
