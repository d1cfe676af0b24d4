import type { PlainValue } from '../storage/value-transformer.ts';
import type { Cipher } from './cipher.ts';

/** Of one resource on one API server. */
export const REMEMBERED_BYTES_MAX = 4 * 1024 * 1024;

interface Remembered {
  readonly data: Uint8Array;
  readonly plain: PlainValue;
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && Buffer.compare(a, b) === 0);

/**
 * Does not decrypt the same bytes of a key twice: a value that this server wrote comes back by its watches, as the
 * previous value of the next change and with every read. The watch cache holds the same plain values anyway. What was
 * added first goes first once there are too many bytes.
 */
export const remembered = (cipher: Cipher, bytesMax = REMEMBERED_BYTES_MAX): Cipher => {
  const values = new Map<string, Remembered>();
  let bytes = 0;
  const sizeOf = ({ data, plain }: Remembered): number => data.length + plain.value.length;
  const forget = (key: string): void => {
    const known = values.get(key);
    if (!known) return;
    values.delete(key);
    bytes -= sizeOf(known);
  };
  const keep = (key: string, data: Uint8Array, plain: PlainValue): PlainValue => {
    forget(key);
    // A value that was read is a part of a larger message, which must not be kept with it.
    const one = { data: data.byteLength === data.buffer.byteLength ? data : data.slice(), plain };
    if (sizeOf(one) > bytesMax) return plain;
    values.set(key, one);
    bytes += sizeOf(one);
    for (const oldest of values.keys()) {
      if (bytes <= bytesMax) break;
      forget(oldest);
    }
    return plain;
  };
  return {
    decrypt(data, key) {
      const known = values.get(key);
      if (known && isSame(known.data, data)) return known.plain;
      const plain = cipher.decrypt(data, key);
      return plain instanceof Promise
        ? plain.then((value) => keep(key, data, value))
        : keep(key, data, plain);
    },
    encrypt: (value, key) => {
      const kept = (data: Uint8Array): Uint8Array => {
        keep(key, data, { value, isStale: false });
        return data;
      };
      const data = cipher.encrypt(value, key);
      return data instanceof Promise ? data.then(kept) : kept(data);
    },
  };
};
