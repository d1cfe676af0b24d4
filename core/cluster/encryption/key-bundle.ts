import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { ReasonError } from '../../base/errors.ts';

const FORMAT = 'pilothouse-keys/v1';
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** About 100 ms and 64 MiB: a guess at a passphrase costs that much, too. */
const SCRYPT = { N: 2 ** 16, r: 8, p: 1, maxmem: 128 * 1024 * 1024 };
export const PASSPHRASE_LENGTH_MIN = 12;

const keyOf = (passphrase: string, salt: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, SCRYPT, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );

/** The encryption configuration as one line of JSON that only the passphrase opens. */
export const sealKeys = async (configuration: string, passphrase: string): Promise<string> => {
  if (passphrase.length < PASSPHRASE_LENGTH_MIN)
    throw new ReasonError(
      'BadPassphrase',
      `the passphrase must have at least ${PASSPHRASE_LENGTH_MIN} characters`,
    );
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt), nonce);
  cipher.setAAD(Buffer.from(FORMAT));
  const data = Buffer.concat([cipher.update(configuration, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const fields = { salt, nonce, data };
  return `${JSON.stringify({
    format: FORMAT,
    ...Object.fromEntries(Object.entries(fields).map(([name, bytes]) => [name, bytes.toString('base64')])),
  })}\n`;
};

/** Throws `BadPassphrase` also where the file was changed: the two cannot be told apart. */
export const openKeys = async (bundle: string, passphrase: string): Promise<string> => {
  let fields: Partial<Record<'format' | 'salt' | 'nonce' | 'data', unknown>>;
  try {
    fields = JSON.parse(bundle) as typeof fields;
  } catch (cause) {
    throw new ReasonError('Damaged', 'is not a file of encryption keys', { cause });
  }
  const bytes = (name: 'salt' | 'nonce' | 'data'): Buffer => Buffer.from(String(fields[name]), 'base64');
  const [salt, nonce, data] = [bytes('salt'), bytes('nonce'), bytes('data')];
  if (fields.format !== FORMAT || nonce.length !== NONCE_BYTES || data.length < TAG_BYTES)
    throw new ReasonError('Damaged', 'is not a file of encryption keys');
  const cipher = createDecipheriv('aes-256-gcm', await keyOf(passphrase, salt), nonce);
  cipher.setAAD(Buffer.from(FORMAT));
  cipher.setAuthTag(data.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([cipher.update(data.subarray(0, -TAG_BYTES)), cipher.final()]).toString('utf8');
  } catch (cause) {
    throw new ReasonError('BadPassphrase', 'the passphrase is wrong, or the file is damaged', { cause });
  }
};
