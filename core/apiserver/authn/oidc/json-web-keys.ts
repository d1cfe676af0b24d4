import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { isJsonObject } from '../../../api/meta/index.ts';

export interface VerificationKey {
  readonly id: string;
  readonly key: KeyObject;
}

const KEYS_MAX = 100;

const keyOf = (value: unknown): VerificationKey | undefined => {
  if (!isJsonObject(value)) return undefined;
  const { kid, use } = value;
  // A key for encryption verifies no signature.
  if (use !== undefined && use !== 'sig') return undefined;
  try {
    const key = createPublicKey({ key: value as JsonWebKey, format: 'jwk' });
    return { id: typeof kid === 'string' ? kid : '', key };
  } catch {
    // A kind of key that this server does not know; the issuer's other keys still count.
    return undefined;
  }
};

/** The public keys of a JSON Web Key Set (RFC 7517) that can verify signatures. Throws for what is no key set. */
export const readKeySet = (text: string): readonly VerificationKey[] => {
  const set: unknown = JSON.parse(text);
  if (!isJsonObject(set) || !Array.isArray(set['keys'])) throw new Error('the document has no list of keys');
  return set['keys'].slice(0, KEYS_MAX).flatMap((value) => keyOf(value) ?? []);
};
