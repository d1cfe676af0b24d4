import { expect, test } from 'vitest';
import type { Cipher } from './cipher.ts';
import { PlainMemory, remembered } from './remembered.ts';

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

const counted = () => {
  const decrypted: string[] = [];
  const cipher: Cipher = {
    decrypt(data, key) {
      decrypted.push(`${key} ${Buffer.from(data).toString()}`);
      return { value: data.subarray(1), isStale: false };
    },
    encrypt: (value) => Buffer.concat([Buffer.from('!'), value]),
  };
  return { decrypted, cipher };
};

test('decrypts neither what it encrypted nor the same bytes twice', async () => {
  const { decrypted, cipher } = counted();
  const memory = remembered(cipher, new PlainMemory());
  const written = await memory.encrypt(bytes('a'), '/k');
  expect(await memory.decrypt(Uint8Array.from(written), '/k')).toEqual({ value: bytes('a'), isStale: false });
  await memory.decrypt(bytes('!b'), '/k');
  await memory.decrypt(bytes('!b'), '/k');
  expect(decrypted).toEqual(['/k !b']);
});

test('the same bytes under another key are decrypted: the key may be part of what is authenticated', async () => {
  const { decrypted, cipher } = counted();
  const memory = remembered(cipher, new PlainMemory());
  await memory.decrypt(bytes('!a'), '/k');
  await memory.decrypt(bytes('!a'), '/other');
  expect(decrypted).toEqual(['/k !a', '/other !a']);
});

test('forgets the oldest values once there are too many bytes, and keeps none that is larger', async () => {
  const { decrypted, cipher } = counted();
  const memory = remembered(cipher, new PlainMemory(20));
  for (const key of ['/a', '/b', '/c']) await memory.decrypt(bytes('!1234'), key);
  await memory.decrypt(bytes('!1234'), '/c');
  await memory.decrypt(bytes('!1234'), '/a');
  const large = bytes(`!${'x'.repeat(20)}`);
  await memory.decrypt(large, '/d');
  await memory.decrypt(large, '/d');
  expect(decrypted.map((one) => one.slice(0, 2))).toEqual(['/a', '/b', '/c', '/a', '/d', '/d']);
});
