import { expect, test } from 'vitest';
import { bcryptHash, bcryptMatches } from './bcrypt.ts';

const pause = (): Promise<void> => Promise.resolve();

/** Vectors of Openwall's crypt_blowfish. */
test.each([
  ['U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  ['U*U*', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK'],
  ['U*U*U', '$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a'],
  ['', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy'],
])('%j matches its published hash, and nothing else does', async (password, hash) => {
  expect(await bcryptMatches(password, hash, pause)).toBe(true);
  expect(await bcryptMatches(`${password}x`, hash, pause)).toBe(false);
});

test('a hashed password matches', async () => {
  const hash = await bcryptHash('geheim ü', { cost: 4, salt: Buffer.from('0123456789abcdef'), pause });
  expect(hash).toMatch(/^\$2a\$04\$[./A-Za-z0-9]{53}$/);
  expect(await bcryptMatches('geheim ü', hash, pause)).toBe(true);
  expect(await bcryptMatches('geheim', hash, pause)).toBe(false);
});

test('hashes that are none match nothing, and a password beyond the limit is an error', async () => {
  expect(await bcryptMatches('x', 'x', pause)).toBe(false);
  const options = { cost: 4, salt: Buffer.alloc(16), pause };
  await expect(bcryptHash('x'.repeat(73), options)).rejects.toThrow('exceeds 72 bytes');
});

test('hashing pauses, so that others are served meanwhile', async () => {
  let pauses = 0;
  const counted = (): Promise<void> => Promise.resolve(void (pauses += 1));
  await bcryptHash('x', { cost: 8, salt: Buffer.alloc(16), pause: counted });
  expect(pauses).toBe(16);
});
