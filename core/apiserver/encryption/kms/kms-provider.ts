import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { aesGcm, aesGcmOfSeed, SEED_BYTES } from '../ciphers/aes.ts';
import type { Cipher } from '../cipher.ts';
import {
  checkEncryptedObject,
  decodeEncryptedObject,
  encodeEncryptedObject,
  KEY_SOURCE,
  keyIdProblem,
  type EncryptedObject,
} from './encrypted-object.ts';
import type { KmsService } from './kms-client.ts';

/** Upstream's: how often a plugin is asked for its key, and how long writes continue when it does not respond. */
const PROBE_EVERY_MS = 60_000;
const PROBE_AGAIN_MS = 10_000;
const WRITE_KEY_TTL_MS = 180_000;
const HEALTH_BAD_TTL_MS = 3_000;
const HEALTH_GOOD_TTL_MS = 20_000;
/** Decrypted keys; each start of a server makes one. */
const KEYS_MAX = 4_096;
const KEY_TTL_MS = 24 * 3_600_000;
const VERSIONS = ['v2', 'v2beta1'];

interface WriteKey {
  readonly cipher: Cipher;
  readonly sealed: Omit<EncryptedObject, 'data'>;
  readonly cacheKey: string;
  readonly expiresAtMs: number;
}

interface CachedKey {
  readonly cipher: Cipher;
  readonly untilMs: number;
}

const hashOf = (keyId: string): string =>
  keyId === '' ? '' : `sha256:${createHash('sha256').update(keyId).digest('hex')}`;

const cacheKeyOf = ({
  keySource,
  encryptedKey,
  keyId,
  annotations,
}: Omit<EncryptedObject, 'data'>): string => {
  const hash = createHash('sha256');
  const add = (part: Uint8Array | string): void => {
    hash.update(`${part.length}:`).update(part);
  };
  add(String(keySource));
  add(encryptedKey);
  add(keyId);
  for (const key of [...annotations.keys()].sort()) {
    add(key);
    add(annotations.get(key)!);
  }
  return hash.digest('base64');
};

export interface KmsCipher extends Cipher, Disposable {
  readonly name: string;
  /** Resolves after the first look at the plugin, whether it answered or not. */
  readonly primed: Promise<void>;
  /** Rejects with upstream's text while the plugin is not healthy. */
  check(): Promise<void>;
}

export interface KmsCipherOptions {
  readonly name: string;
  readonly service: KmsService;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Envelope encryption: values are encrypted here with a key that the plugin has encrypted, so it is asked once for each
 * of its keys and not for each value. Reads continue without it as long as their key is known; writes for three minutes.
 */
export const createKmsCipher = (options: KmsCipherOptions): KmsCipher => {
  const { name, service, clock, log } = options;
  const keys = new Map<string, CachedKey>();
  const asked = new Map<string, Promise<Cipher>>();
  let writeKey: WriteKey | undefined;
  let version = '';
  let last: { readonly error: Error | undefined; readonly untilMs: number } | undefined;
  let checking: Promise<void> | undefined;
  let timer: Disposable | undefined;
  let isClosed = false;

  const keep = (cacheKey: string, cipher: Cipher): void => {
    keys.delete(cacheKey);
    keys.set(cacheKey, { cipher, untilMs: clock.monotonicMs() + KEY_TTL_MS });
    if (keys.size > KEYS_MAX) keys.delete(keys.keys().next().value!);
  };

  const generate = async (statusKeyId: string, expiresAtMs: number): Promise<WriteKey> => {
    const seed = randomBytes(SEED_BYTES);
    const { ciphertext, keyId, annotations } = await service
      .encrypt(randomUUID(), seed)
      .catch((cause: unknown) => {
        throw new Error(`failed to encrypt DEK, error: ${messageOf(cause)}`, { cause });
      });
    const sealed = { keyId, encryptedKey: ciphertext, annotations, keySource: KEY_SOURCE.seed };
    checkEncryptedObject({ ...sealed, data: Uint8Array.of(0) });
    if (keyId !== statusKeyId)
      throw new Error(
        `failed to rotate DEK, statusKeyIDHash=${JSON.stringify(hashOf(statusKeyId))}, encryptKeyIDHash=${JSON.stringify(hashOf(keyId))}`,
      );
    const cipher = aesGcmOfSeed(seed);
    const cacheKey = cacheKeyOf(sealed);
    keep(cacheKey, cipher);
    return { cipher, sealed, cacheKey, expiresAtMs };
  };

  const probe = async (): Promise<void> => {
    const expiresAtMs = clock.nowMs() + WRITE_KEY_TTL_MS;
    const status = await service.status().catch((cause: unknown) => {
      throw new Error(
        `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${messageOf(cause)}`,
        { cause },
      );
    });
    const problems: string[] = [];
    if (status.healthz !== 'ok') problems.push(`got unexpected healthz status: ${status.healthz}`);
    if (!VERSIONS.includes(status.version))
      problems.push(`expected KMSv2 API version v2, got ${status.version}`);
    else {
      version ||= status.version;
      if (version !== status.version)
        problems.push(
          `KMSv2 API version should not change after the initial status response version ${version}, got ${status.version}`,
        );
    }
    const keyProblem = keyIdProblem(status.keyId);
    if (keyProblem !== undefined)
      problems.push(`got invalid KMSv2 KeyID hash ${JSON.stringify(hashOf(status.keyId))}: ${keyProblem}`);
    else if (writeKey?.sealed.keyId === status.keyId) writeKey = { ...writeKey, expiresAtMs };
    else
      await generate(status.keyId, expiresAtMs).then(
        (made) => (writeKey = made),
        (error: unknown) => problems.push(messageOf(error)),
      );
    if (problems.length > 0)
      throw new Error(
        `kmsv2 Provider ${name} is not healthy, error: ${problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`}`,
      );
  };

  const check = (): Promise<void> => {
    if (last !== undefined && clock.monotonicMs() < last.untilMs)
      return last.error === undefined ? Promise.resolve() : Promise.reject(last.error);
    checking ??= probe()
      .then(
        () => (last = { error: undefined, untilMs: clock.monotonicMs() + HEALTH_GOOD_TTL_MS }),
        (error: unknown) => {
          last = { error: error as Error, untilMs: clock.monotonicMs() + HEALTH_BAD_TTL_MS };
          throw error;
        },
      )
      .then(() => undefined)
      .finally(() => (checking = undefined));
    return checking;
  };

  const keepProbing = async (): Promise<void> => {
    const isHealthy = await check().then(
      () => true,
      (error: unknown) => {
        log.write('warn', 'kms plugin failed health check probe', { name, error: messageOf(error) });
        return false;
      },
    );
    if (!isClosed) timer = clock.after(isHealthy ? PROBE_EVERY_MS : PROBE_AGAIN_MS, () => void keepProbing());
  };

  const cipherOf = (object: EncryptedObject): Cipher | Promise<Cipher> => {
    const cacheKey = cacheKeyOf(object);
    const known = keys.get(cacheKey);
    if (known !== undefined && known.untilMs > clock.monotonicMs()) return known.cipher;
    let asking = asked.get(cacheKey);
    if (asking === undefined) {
      asking = service
        .decrypt(randomUUID(), {
          ciphertext: object.encryptedKey,
          keyId: object.keyId,
          annotations: object.annotations,
        })
        .then(
          (key) => {
            const cipher = object.keySource === KEY_SOURCE.seed ? aesGcmOfSeed(key) : aesGcm(key);
            keep(cacheKey, cipher);
            return cipher;
          },
          (cause: unknown) => {
            throw new Error(`failed to decrypt DEK, error: ${messageOf(cause)}`, { cause });
          },
        )
        .finally(() => asked.delete(cacheKey));
      asked.set(cacheKey, asking);
    }
    return asking;
  };

  return {
    name,
    primed: keepProbing(),
    check,
    decrypt(data, key) {
      const object = decodeEncryptedObject(data);
      if (writeKey === undefined) throw new Error('got unexpected nil transformer');
      const isStale =
        object.keyId !== writeKey.sealed.keyId || object.keySource !== writeKey.sealed.keySource;
      const read = async (cipher: Cipher) => ({ ...(await cipher.decrypt(object.data, key)), isStale });
      const cipher = cipherOf(object);
      if (cipher instanceof Promise) return cipher.then(read);
      const plain = cipher.decrypt(object.data, key);
      return plain instanceof Promise ? read(cipher) : { ...plain, isStale };
    },
    encrypt(value, key) {
      if (writeKey === undefined) throw new Error('got unexpected nil transformer');
      const { sealed, cipher, expiresAtMs } = writeKey;
      if (clock.nowMs() > expiresAtMs)
        throw new Error(
          `encryptedDEKSource with keyID hash ${JSON.stringify(hashOf(sealed.keyId))} expired at ${new Date(expiresAtMs).toISOString()} (current time is ${new Date(clock.nowMs()).toISOString()})`,
        );
      const data = cipher.encrypt(value, key) as Uint8Array;
      return encodeEncryptedObject({ ...sealed, data });
    },
    dispose() {
      isClosed = true;
      timer?.dispose();
      service.close();
    },
  };
};
