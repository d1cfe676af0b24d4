import { describe, expect, test } from 'vitest';
import type { PlainValue } from '../../storage/value-transformer.ts';
import type { Cipher } from '../cipher.ts';
import { aesCbc, aesGcm, aesGcmOfSeed } from './aes.ts';
import { poly1305 } from './poly1305.ts';
import { streamOf, xsalsa20 } from './salsa20.ts';
import { secretbox } from './secretbox.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
const KEY = '/registry/secrets/default/a';
const read = (cipher: Cipher, data: Uint8Array, key = KEY): Uint8Array =>
  (cipher.decrypt(data, key) as PlainValue).value;
const write = (cipher: Cipher, value: Uint8Array, key = KEY): Uint8Array =>
  cipher.encrypt(value, key) as Uint8Array;

/** The example of "Cryptography in NaCl", section 10: key, nonce, message and box. */
const NACL_KEY = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const NACL_NONCE = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const NACL_MESSAGE = hex(`
  be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc
  e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31
  0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde
  048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864
  5e0705`);
const NACL_BOX = hex(`
  f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce
  48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
  71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae
  90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3
  7973f622a43d14a6599b1f654cb45a74e355a5`);

test('secretbox opens the box of the NaCl paper', () => {
  expect(read(secretbox(NACL_KEY), Buffer.concat([NACL_NONCE, NACL_BOX]))).toEqual(NACL_MESSAGE);
});

test('XSalsa20 and Poly1305 make the same box', () => {
  const stream = streamOf(32 + NACL_MESSAGE.length);
  stream.set(NACL_MESSAGE, 32);
  xsalsa20(NACL_KEY, NACL_NONCE, stream);
  const sealed = stream.subarray(32, 32 + NACL_MESSAGE.length);
  const tag = poly1305(stream.subarray(0, 32), sealed);
  expect(Buffer.concat([tag, sealed]).equals(NACL_BOX)).toBe(true);
});

test('Poly1305 reduces a sum that is at the modulus (RFC 8439, appendix A.3, vectors 7 and 11)', () => {
  const one = new Uint8Array(32);
  one[0] = 1;
  const ones = hex('ff'.repeat(16));
  const message = Buffer.concat([ones, hex(`f0${'ff'.repeat(15)}`), hex(`11${'00'.repeat(15)}`)]);
  expect(Buffer.from(poly1305(one, message)).toString('hex')).toBe(`05${'00'.repeat(15)}`);
});

/** Made with Go's crypto/aes: key 32 bytes of 0x01, IV or nonce of 0x02. */
test('AES-CBC is IV, blocks and PKCS #7 padding', () => {
  const secret = new Uint8Array(32).fill(1);
  const sealed = write(aesCbc(secret), Buffer.from('sixteen bytes!!!'));
  expect(sealed.length).toBe(16 + 32);
  expect(Buffer.from(read(aesCbc(secret), sealed)).toString()).toBe('sixteen bytes!!!');
});

describe.each([
  ['aescbc with 128 bits', aesCbc(new Uint8Array(16).fill(7))],
  ['aescbc with 256 bits', aesCbc(new Uint8Array(32).fill(7))],
  ['aesgcm with 192 bits', aesGcm(new Uint8Array(24).fill(7))],
  ['aesgcm with 256 bits', aesGcm(new Uint8Array(32).fill(7))],
  ['aesgcm of a seed', aesGcmOfSeed(new Uint8Array(32).fill(7))],
  ['secretbox', secretbox(new Uint8Array(32).fill(7))],
])('%s', (_name, cipher) => {
  test.each([0, 1, 15, 16, 17, 63, 64, 65, 5000])('reads what it wrote: %i bytes', (size) => {
    const value = Uint8Array.from({ length: size }, (_, at) => at % 251);
    const sealed = write(cipher, value);
    expect(Buffer.compare(read(cipher, sealed), value)).toBe(0);
    expect(Buffer.compare(write(cipher, value), sealed)).not.toBe(0);
  });

  test('rejects what is too short', () => {
    expect(() => read(cipher, new Uint8Array(3))).toThrow(
      'the stored data was shorter than the required size',
    );
  });
});

test.each([
  ['aesgcm', aesGcm(new Uint8Array(32)), 'cipher: message authentication failed'],
  ['aesgcm of a seed', aesGcmOfSeed(new Uint8Array(32)), 'cipher: message authentication failed'],
  ['secretbox', secretbox(new Uint8Array(32)), 'output array was not large enough for encryption'],
])('%s rejects a changed value', (_name, cipher, text) => {
  const sealed = Uint8Array.from(write(cipher, Buffer.from('a secret')));
  sealed[sealed.length - 1]! ^= 1;
  expect(() => read(cipher, sealed)).toThrow(text);
});

test('AES-GCM rejects a value that was moved to another key', () => {
  const cipher = aesGcm(new Uint8Array(32));
  const sealed = write(cipher, Buffer.from('a secret'));
  expect(() => read(cipher, sealed, '/registry/secrets/default/b')).toThrow(
    'cipher: message authentication failed',
  );
});
