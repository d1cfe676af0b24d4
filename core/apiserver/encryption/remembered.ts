import type { PlainValue } from '../storage/value-transformer.ts';
import type { Cipher } from './cipher.ts';

/** Of all resources on one API server. */
export const REMEMBERED_BYTES_MAX = 8 * 1024 * 1024;

interface Remembered {
  readonly data: Uint8Array;
  readonly plain: PlainValue;
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && Buffer.compare(a, b) === 0);

const sizeOf = ({ data, plain }: Remembered): number => data.length + plain.value.length;

/** Plain values by etcd key. What was added first goes first once there are too many bytes. */
export class PlainMemory {
  readonly #bytesMax: number;
  readonly #values = new Map<string, Remembered>();
  #bytes = 0;

  constructor(bytesMax = REMEMBERED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  find(key: string, data: Uint8Array): PlainValue | undefined {
    const known = this.#values.get(key);
    return known && isSame(known.data, data) ? known.plain : undefined;
  }

  keep(key: string, data: Uint8Array, plain: PlainValue): void {
    this.#forget(key);
    // A value that was read is a part of a larger message, which must not be kept with it.
    const one = { data: data.byteLength === data.buffer.byteLength ? data : data.slice(), plain };
    if (sizeOf(one) > this.#bytesMax) return;
    this.#values.set(key, one);
    this.#bytes += sizeOf(one);
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const known = this.#values.get(key);
    if (!known) return;
    this.#values.delete(key);
    this.#bytes -= sizeOf(known);
  }
}

/**
 * Does not decrypt the same bytes of a key twice: a value that this server wrote comes back by its watch and with every
 * read. The watch cache holds the same plain values anyway.
 */
export const remembered = (cipher: Cipher, memory: PlainMemory): Cipher => ({
  decrypt(data, key) {
    const known = memory.find(key, data);
    if (known) return known;
    const kept = (plain: PlainValue): PlainValue => {
      memory.keep(key, data, plain);
      return plain;
    };
    const plain = cipher.decrypt(data, key);
    return plain instanceof Promise ? plain.then(kept) : kept(plain);
  },
  encrypt(value, key) {
    const kept = (data: Uint8Array): Uint8Array => {
      memory.keep(key, data, { value, isStale: false });
      return data;
    };
    const data = cipher.encrypt(value, key);
    return data instanceof Promise ? data.then(kept) : kept(data);
  },
});
