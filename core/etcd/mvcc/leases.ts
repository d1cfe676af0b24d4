import type { KeyString } from './model.ts';

/** Which key hangs on which lease; kept by the lessor, told by the store as keys change. */
export interface LeaseBook {
  exists(lease: bigint): boolean;
  /** The lease that a key hangs on, 0n without one. */
  leaseOf(key: KeyString): bigint;
  /** During a restart the lease may be gone already: then nothing is attached. */
  attach(lease: bigint, key: KeyString): void;
  detach(lease: bigint, key: KeyString): void;
}

/** For stores without a lessor: any lease is taken as it is. */
export const noLeases: LeaseBook = {
  exists: () => true,
  leaseOf: () => 0n,
  attach() {},
  detach() {},
};
