import type { PlainValue } from '../storage/value-transformer.ts';
import type { Cipher } from './cipher.ts';

const ENCRYPTED_PREFIX = Buffer.from('k8s:enc:');

export const hasPrefix = (data: Uint8Array, prefix: Uint8Array): boolean => {
  if (data.length < prefix.length) return false;
  for (let at = 0; at < prefix.length; at += 1) if (data[at] !== prefix[at]) return false;
  return true;
};

export const isEncrypted = (data: Uint8Array): boolean => hasPrefix(data, ENCRYPTED_PREFIX);

/** Values as they are. Encrypted ones are rejected: taken for plain they would be decoded to garbage. */
export const identity: Cipher = {
  decrypt(data): PlainValue {
    if (isEncrypted(data)) throw new Error('identity transformer tried to read encrypted data');
    return { value: data, isStale: false };
  },
  encrypt: (value) => value,
};
