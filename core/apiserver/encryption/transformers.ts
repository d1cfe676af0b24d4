import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import type { GroupResource } from '../../api/meta/index.ts';
import type { ValueTransformer } from '../storage/value-transformer.ts';
import { aesCbc, aesGcm } from './ciphers/aes.ts';
import { secretbox } from './ciphers/secretbox.ts';
import type { Cipher } from './cipher.ts';
import type { EncryptionConfiguration, Provider } from './configuration.ts';
import { identity } from './identity.ts';
import { createKmsClient } from './kms/kms-client.ts';
import { createKmsCipher, type KmsCipher } from './kms/kms-provider.ts';
import { prefixed, type OnTransformed, type PrefixedCipher } from './prefixed.ts';
import { PlainMemory, remembered } from './remembered.ts';
import { resourceOfKey } from './resource-of-key.ts';

export type OnResourceTransformed = (
  resource: GroupResource,
  ...transformed: Parameters<OnTransformed>
) => void;

export interface TransformerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly onTransformed?: OnResourceTransformed | undefined;
}

/** The transformers of one configuration. Anyone who made them disposes of them after the last call. */
export interface Transformers extends ValueTransformer, Disposable {
  /** Resolves when every KMS plugin was asked once. */
  readonly primed: Promise<void>;
  /** How long calls to plugins may still take after the transformers were replaced. */
  readonly closeGraceMs: number;
  /** Rejects while a KMS plugin is not healthy. */
  check(): Promise<void>;
}

const KEYED = {
  aescbc: { cipher: aesCbc, unmatched: 'no matching key was found for the provided AES transformer' },
  aesgcm: { cipher: aesGcm, unmatched: 'no matching key was found for the provided AES transformer' },
  secretbox: {
    cipher: secretbox,
    unmatched: 'no matching key was found for the provided Secretbox transformer',
  },
} as const;

const RESOURCES_MAX = 2000;

const ruleName = ({ group, resource }: GroupResource): string => `${resource}.${group}`;

/** One transformer for all keys: the rule of a key's resource decides, and without one values stay plain. */
export const createTransformers = (
  { rules }: EncryptionConfiguration,
  { clock, log, onTransformed }: TransformerOptions,
): Transformers => {
  const plugins: KmsCipher[] = [];
  const memory = new PlainMemory();
  let closeGraceMs = 0;

  const cipherOf = (provider: Provider): PrefixedCipher => {
    if (provider.type === 'identity') return { prefix: '', cipher: identity };
    if (provider.type === 'kms') {
      const { name, socketPath, timeoutMs } = provider;
      const service = createKmsClient(socketPath, timeoutMs);
      const cipher = createKmsCipher({ name, service, clock, log });
      plugins.push(cipher);
      closeGraceMs += 2 * timeoutMs;
      return { prefix: `k8s:enc:kms:v2:${name}:`, cipher };
    }
    const { cipher, unmatched } = KEYED[provider.type];
    return {
      prefix: `k8s:enc:${provider.type}:v1:`,
      cipher: prefixed(
        provider.keys.map(({ name, secret }) => ({ prefix: `${name}:`, cipher: cipher(secret) })),
        unmatched,
      ),
    };
  };

  /** Rules that name one resource twice are joined: the first writes, all read. */
  const ciphers = new Map<string, PrefixedCipher[]>();
  for (const { resources, providers } of rules) {
    const made = providers.map(cipherOf);
    for (const resource of resources) {
      const name = ruleName(resource);
      ciphers.set(name, [...(ciphers.get(name) ?? []), ...made]);
    }
  }
  const byResource = new Map<string, Cipher>();
  const cipherFor = (resource: GroupResource): Cipher => {
    const found =
      ciphers.get(ruleName(resource)) ??
      ciphers.get(ruleName({ group: resource.group, resource: '*' })) ??
      ciphers.get('*.*');
    if (found === undefined) return identity;
    const tell: OnTransformed = (...transformed) => onTransformed?.(resource, ...transformed);
    const cipher = prefixed(found, 'no matching prefix found', tell);
    // Whether a value of a KMS plugin is stale changes with the plugin's key, so it is asked each time.
    return found.some((one) => plugins.some((plugin) => plugin === one.cipher))
      ? cipher
      : remembered(cipher, memory);
  };
  const cipherOfKey = (key: string): Cipher => {
    const resource = resourceOfKey(key);
    if (resource === undefined) return identity;
    const name = ruleName(resource);
    let cipher = byResource.get(name);
    if (cipher === undefined) {
      cipher = cipherFor(resource);
      if (byResource.size < RESOURCES_MAX) byResource.set(name, cipher);
    }
    return cipher;
  };
  return {
    fromStorage: (data, key) => cipherOfKey(key).decrypt(data, key),
    toStorage: (value, key) => cipherOfKey(key).encrypt(value, key),
    primed: Promise.all(plugins.map(({ primed }) => primed)).then(() => undefined),
    closeGraceMs,
    async check() {
      for (const plugin of plugins) await plugin.check();
    },
    dispose() {
      for (const plugin of plugins) plugin.dispose();
    },
  };
};
