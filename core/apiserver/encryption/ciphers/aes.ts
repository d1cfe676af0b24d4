import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { fresh, tooShort, type Cipher } from '../cipher.ts';

const BLOCK_BYTES = 16;
const GCM_NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;
const INFO_BYTES = 32;
export const SEED_BYTES = 32;

const bits = (key: Uint8Array): 128 | 192 | 256 => (key.length * 8) as 128 | 192 | 256;

/** The end of a decrypted value, PKCS #7. Upstream's texts. */
const withoutPadding = (padded: Buffer): Buffer => {
  const size = padded.at(-1) ?? 0;
  if (size === 0 || size > padded.length) throw new Error('invalid PKCS7 data (empty or not padded)');
  for (const byte of padded.subarray(padded.length - size))
    if (byte !== size) throw new Error('invalid padding on input');
  return padded.subarray(0, padded.length - size);
};

/** IV, then the blocks. Nothing is authenticated, as upstream. */
export const aesCbc = (secret: Uint8Array): Cipher => ({
  decrypt(data) {
    if (data.length < BLOCK_BYTES) throw tooShort();
    const blocks = data.subarray(BLOCK_BYTES);
    if (blocks.length % BLOCK_BYTES !== 0)
      throw new Error('the stored data is not a multiple of the block size');
    const cipher = createDecipheriv(`aes-${bits(secret)}-cbc`, secret, data.subarray(0, BLOCK_BYTES));
    cipher.setAutoPadding(false);
    return fresh(withoutPadding(Buffer.concat([cipher.update(blocks), cipher.final()])));
  },
  encrypt(value) {
    const iv = randomBytes(BLOCK_BYTES);
    const cipher = createCipheriv(`aes-${bits(secret)}-cbc`, secret, iv);
    return Buffer.concat([iv, cipher.update(value), cipher.final()]);
  },
});

/** Nonce, encrypted value, tag. The etcd key is authenticated with it. */
export const aesGcm = (secret: Uint8Array): Cipher => ({
  decrypt(data, key) {
    if (data.length < GCM_NONCE_BYTES) throw tooShort();
    const tagAt = data.length - GCM_TAG_BYTES;
    if (tagAt < GCM_NONCE_BYTES) throw new Error('cipher: message authentication failed');
    const nonce = data.subarray(0, GCM_NONCE_BYTES);
    const cipher = createDecipheriv(`aes-${bits(secret)}-gcm`, secret, nonce, {
      authTagLength: GCM_TAG_BYTES,
    });
    cipher.setAAD(Buffer.from(key));
    cipher.setAuthTag(data.subarray(tagAt));
    const value = cipher.update(data.subarray(GCM_NONCE_BYTES, tagAt));
    try {
      cipher.final();
    } catch (cause) {
      throw new Error('cipher: message authentication failed', { cause });
    }
    return fresh(value);
  },
  encrypt(value, key) {
    const nonce = randomBytes(GCM_NONCE_BYTES);
    const cipher = createCipheriv(`aes-${bits(secret)}-gcm`, secret, nonce, { authTagLength: GCM_TAG_BYTES });
    cipher.setAAD(Buffer.from(key));
    return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
  },
});

/** HKDF-Expand of SHA-256 for one block of output (RFC 5869, section 2.3). */
const expand = (seed: Uint8Array, info: Uint8Array): Buffer =>
  createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest();

/** AES-GCM with a key of its own for every write: `info`, from which the key is derived, stands before the value. */
export const aesGcmOfSeed = (seed: Uint8Array): Cipher => {
  if (seed.length < SEED_BYTES) throw new Error(`invalid seed length ${seed.length} used for key generation`);
  return {
    decrypt(data, key) {
      if (data.length < INFO_BYTES) throw tooShort();
      return aesGcm(expand(seed, data.subarray(0, INFO_BYTES))).decrypt(data.subarray(INFO_BYTES), key);
    },
    encrypt(value, key) {
      const info = randomBytes(INFO_BYTES);
      return Buffer.concat([info, aesGcm(expand(seed, info)).encrypt(value, key) as Uint8Array]);
    },
  };
};
