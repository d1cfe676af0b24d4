import { randomBytes, timingSafeEqual } from 'node:crypto';
import { fresh, tooShort, type Cipher } from '../cipher.ts';
import { poly1305 } from './poly1305.ts';
import { xsalsa20 } from './salsa20.ts';

const NONCE_BYTES = 24;
const TAG_BYTES = 16;
/** The first bytes of the stream are the authenticator's key and encrypt nothing. */
const AUTHENTICATOR_KEY_BYTES = 32;

/** NaCl's secretbox: nonce, tag, encrypted value. OpenSSL has no XSalsa20, so it stands here. */
export const secretbox = (secret: Uint8Array): Cipher => ({
  decrypt(data) {
    if (data.length < NONCE_BYTES + TAG_BYTES) throw tooShort();
    const nonce = data.subarray(0, NONCE_BYTES);
    const tag = data.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    const sealed = data.subarray(NONCE_BYTES + TAG_BYTES);
    const stream = new Uint8Array(AUTHENTICATOR_KEY_BYTES + sealed.length);
    stream.set(sealed, AUTHENTICATOR_KEY_BYTES);
    xsalsa20(secret, nonce, stream);
    const expected = poly1305(stream.subarray(0, AUTHENTICATOR_KEY_BYTES), sealed);
    // Upstream's text for a value that was changed, or written with another key.
    if (!timingSafeEqual(expected, tag)) throw new Error('output array was not large enough for encryption');
    return fresh(stream.subarray(AUTHENTICATOR_KEY_BYTES));
  },
  encrypt(value) {
    const nonce = randomBytes(NONCE_BYTES);
    const stream = new Uint8Array(AUTHENTICATOR_KEY_BYTES + value.length);
    stream.set(value, AUTHENTICATOR_KEY_BYTES);
    xsalsa20(secret, nonce, stream);
    const sealed = stream.subarray(AUTHENTICATOR_KEY_BYTES);
    return Buffer.concat([nonce, poly1305(stream.subarray(0, AUTHENTICATOR_KEY_BYTES), sealed), sealed]);
  },
});
