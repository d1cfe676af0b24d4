import type { PlainValue } from '../storage/value-transformer.ts';

/** One way to encrypt values. `key` is the etcd key, which some authenticate with the value. */
export interface Cipher {
  decrypt(data: Uint8Array, key: string): PlainValue | Promise<PlainValue>;
  encrypt(value: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>;
}

export const fresh = (value: Uint8Array): PlainValue => ({ value, isStale: false });

/** Upstream's text for data that was cut off. */
export const tooShort = (): Error => new Error('the stored data was shorter than the required size');
