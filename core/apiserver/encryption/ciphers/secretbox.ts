import { randomFillSync, timingSafeEqual } from 'node:crypto';
import { fresh, tooShort, type Cipher } from '../cipher.ts';
import { poly1305 } from './poly1305.ts';
import { streamOf, xsalsa20 } from './salsa20.ts';

const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const HEAD_BYTES = NONCE_BYTES + TAG_BYTES;
/** The first bytes of the stream are the authenticator's key and encrypt nothing. */
const AUTHENTICATOR_KEY_BYTES = 32;
/** Nonces that are drawn together: the call costs more than the bytes. */
const NONCES_DRAWN = 128;

/** Random nonces, none given out twice. */
const createNonces = (): (() => Uint8Array) => {
  const drawn = new Uint8Array(NONCES_DRAWN * NONCE_BYTES);
  let next = NONCES_DRAWN;
  return () => {
    if (next === NONCES_DRAWN) {
      randomFillSync(drawn);
      next = 0;
    }
    const from = next * NONCE_BYTES;
    next += 1;
    return drawn.subarray(from, from + NONCE_BYTES);
  };
};

/** NaCl's secretbox: nonce, tag, encrypted value. OpenSSL has no XSalsa20, so it is implemented here. */
export const secretbox = (secret: Uint8Array): Cipher => {
  const nonces = createNonces();
  /** The value between the authenticator's key and the end of the last block. */
  const streamWith = (nonce: Uint8Array, value: Uint8Array): Uint8Array => {
    const stream = streamOf(AUTHENTICATOR_KEY_BYTES + value.length);
    stream.set(value, AUTHENTICATOR_KEY_BYTES);
    xsalsa20(secret, nonce, stream);
    return stream.subarray(0, AUTHENTICATOR_KEY_BYTES + value.length);
  };
  return {
    decrypt(data) {
      if (data.length < HEAD_BYTES) throw tooShort();
      const sealed = data.subarray(HEAD_BYTES);
      const stream = streamWith(data.subarray(0, NONCE_BYTES), sealed);
      const expected = poly1305(stream.subarray(0, AUTHENTICATOR_KEY_BYTES), sealed);
      // Upstream's text for a value that was changed, or written with another key.
      if (!timingSafeEqual(expected, data.subarray(NONCE_BYTES, HEAD_BYTES)))
        throw new Error('output array was not large enough for encryption');
      return fresh(stream.subarray(AUTHENTICATOR_KEY_BYTES));
    },
    encrypt(value) {
      const nonce = nonces();
      const stream = streamWith(nonce, value);
      const sealed = stream.subarray(AUTHENTICATOR_KEY_BYTES);
      const data = new Uint8Array(HEAD_BYTES + value.length);
      data.set(nonce);
      data.set(poly1305(stream.subarray(0, AUTHENTICATOR_KEY_BYTES), sealed), NONCE_BYTES);
      data.set(sealed, HEAD_BYTES);
      return data;
    },
  };
};
