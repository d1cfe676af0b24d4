import type { PlainValue } from '../storage/value-transformer.ts';
import type { Cipher } from './cipher.ts';
import { hasPrefix, isEncrypted } from './identity.ts';

export interface PrefixedCipher {
  /** Empty for plain values. */
  readonly prefix: string;
  readonly cipher: Cipher;
}

/** Told of each value that was transformed, for metrics. `prefix` is empty where nothing matched. */
export type OnTransformed = (
  direction: 'from_storage' | 'to_storage',
  prefix: string,
  error?: unknown,
) => void;

interface Option extends PrefixedCipher {
  readonly bytes: Uint8Array;
}

const failure = (errors: readonly unknown[], unmatched: string): Error => {
  const texts = [...new Set(errors.map((error) => (error instanceof Error ? error.message : String(error))))];
  if (texts.length === 0) return new Error(unmatched);
  return new Error(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`, { cause: errors[0] });
};

/**
 * Writes with the first cipher and reads with the first that can, by the prefix of the value. Several may share one
 * prefix while keys are rotated, so a failure of one is no failure yet. What another than the first has read is stale.
 */
export const prefixed = (
  ciphers: readonly PrefixedCipher[],
  unmatched: string,
  onTransformed: OnTransformed = () => undefined,
): Cipher => {
  const options = ciphers.map((one): Option => ({ ...one, bytes: Buffer.from(one.prefix) }));
  const from = (
    data: Uint8Array,
    key: string,
    first: number,
    errors: readonly unknown[],
  ): PlainValue | Promise<PlainValue> => {
    for (let at = first; at < options.length; at += 1) {
      const { bytes, cipher, prefix } = options[at]!;
      if (!hasPrefix(data, bytes)) continue;
      // Plain values come first while encryption is turned off: what is encrypted is left to those that can read it.
      if (prefix === '' && isEncrypted(data)) continue;
      const done = (plain: PlainValue): PlainValue => {
        onTransformed('from_storage', prefix || 'identity');
        return at === 0 ? plain : { ...plain, isStale: true };
      };
      const failed = (error: unknown): PlainValue | Promise<PlainValue> => {
        if (prefix !== '') onTransformed('from_storage', prefix, error);
        // Plain values and encrypted ones may stand side by side while encryption is turned off.
        return from(data, key, at + 1, prefix === '' ? errors : [...errors, error]);
      };
      try {
        const plain = cipher.decrypt(bytes.length === 0 ? data : data.subarray(bytes.length), key);
        return plain instanceof Promise ? plain.then(done, failed) : done(plain);
      } catch (error) {
        return failed(error);
      }
    }
    const error = failure(errors, unmatched);
    if (errors.length === 0) onTransformed('from_storage', 'unknown', error);
    throw error;
  };
  const { bytes, cipher, prefix } = options[0]!;
  const withPrefix = (encrypted: Uint8Array): Uint8Array => {
    onTransformed('to_storage', prefix);
    if (bytes.length === 0) return encrypted;
    // Not Buffer.concat, whose pool would be kept with every value that is remembered.
    const value = new Uint8Array(bytes.length + encrypted.length);
    value.set(bytes);
    value.set(encrypted, bytes.length);
    return value;
  };
  const refused = (error: unknown): never => {
    onTransformed('to_storage', prefix, error);
    throw error;
  };
  return {
    decrypt: (data, key) => from(data, key, 0, []),
    encrypt(value, key) {
      try {
        const encrypted = cipher.encrypt(value, key);
        return encrypted instanceof Promise ? encrypted.then(withPrefix, refused) : withPrefix(encrypted);
      } catch (error) {
        return refused(error);
      }
    },
  };
};
