import type { BackendSize } from '../mvcc/backend/backend.ts';

/** What a stored pair costs besides its bytes: revision, versions, tags. */
const PAIR_OVERHEAD_BYTES = 256;

/** How large the backend may grow. */
export interface Quota {
  readonly limitBytes: number;
  hasRoomFor(bytes: number): boolean;
}

export const backendQuota = (limitBytes: number, size: () => BackendSize): Quota => ({
  limitBytes,
  hasRoomFor: (bytes) => size().totalBytes + bytes + PAIR_OVERHEAD_BYTES <= limitBytes,
});
