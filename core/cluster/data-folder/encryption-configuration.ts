import { randomBytes } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { say, SaidError } from '../../contract/index.ts';
import { stampOf } from './backup-name.ts';

const SECRETBOX_KEY_BYTES = 32;

export interface Key {
  readonly name: string;
  readonly secret: string;
}

type KeyedType = 'aescbc' | 'aesgcm' | 'secretbox';
const KEYED_TYPES: readonly KeyedType[] = ['secretbox', 'aescbc', 'aesgcm'];

export interface ProviderEntry {
  readonly [type: string]: { readonly keys?: readonly Key[] } | null;
}

export interface RuleEntry {
  readonly resources: readonly string[];
  readonly providers: readonly ProviderEntry[];
}

interface Document {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resources: readonly RuleEntry[];
}

/** Named by the time, so that its age can be seen. */
export const newKey = (nowMs: number, bytes: number = SECRETBOX_KEY_BYTES): Key => ({
  name: `key-${stampOf(nowMs)}`.toLowerCase(),
  secret: randomBytes(bytes).toString('base64'),
});

/** Secrets are encrypted with a key of this cluster; those that were stored before, if any, are still read. */
export const newEncryptionYaml = (nowMs: number): string =>
  stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [{ secretbox: { keys: [newKey(nowMs)] } }, { identity: {} }],
      },
    ],
  });

/** The text is one that API servers use, so it is known to be valid. */
const read = (text: string): Document => parse(text) as Document;

const keyedOf = (provider: ProviderEntry): KeyedType | undefined =>
  KEYED_TYPES.find((type) => provider[type] !== undefined && provider[type] !== null);

const keysOf = (provider: ProviderEntry, type: KeyedType): readonly Key[] => provider[type]?.keys ?? [];

/** Rules that encrypt with keys in the file. KMS plugins rotate their own. */
const isKeyed = ({ providers }: RuleEntry): boolean => keyedOf(providers[0] ?? {}) !== undefined;

const editFirst = (
  text: string,
  edit: (keys: readonly Key[], type: KeyedType) => readonly Key[],
  keepsOthers: boolean,
): string => {
  const document = read(text);
  const resources = document.resources.map((rule) => {
    if (!isKeyed(rule)) return rule;
    const [first, ...others] = rule.providers;
    const type = keyedOf(first!)!;
    const edited = { [type]: { keys: edit(keysOf(first!, type), type) } };
    return { ...rule, providers: [edited, ...(keepsOthers ? others : [])] };
  });
  return stringify({ ...document, resources });
};

/** The length of a rule's keys stays: an operator may have chosen it. */
const keyLike = (keys: readonly Key[], nowMs: number): Key =>
  newKey(nowMs, Buffer.from(keys[0]?.secret ?? '', 'base64').length || SECRETBOX_KEY_BYTES);

/** Every server reads the new key before one writes with it. */
export const withNewKey = (text: string, nowMs: number): string => {
  if (!read(text).resources.some(isKeyed)) throw new SaidError('NotFound', say('encryption.noOwnKey'));
  return editFirst(text, (keys) => [...keys.slice(0, 1), keyLike(keys, nowMs), ...keys.slice(1)], true);
};

/** The second key becomes the one that writes. */
export const withSecondKeyFirst = (text: string): string =>
  editFirst(text, ([first, second, ...rest]) => [second!, first!, ...rest], true);

/** Only the key that writes is left: everything was rewritten with it. */
export const withFirstKeyOnly = (text: string): string => editFirst(text, (keys) => keys.slice(0, 1), false);

/** What is encrypted, and the prefix that its values have when they are written now. */
export const writtenPrefixes = (
  text: string,
): readonly { readonly resource: string; readonly prefix: string }[] =>
  read(text).resources.flatMap(({ resources, providers }) => {
    const [first = {}] = providers;
    const type = keyedOf(first);
    const kms = first['kms'] as { readonly name?: string } | undefined | null;
    const prefix =
      type !== undefined
        ? `k8s:enc:${type}:v1:${keysOf(first, type)[0]?.name ?? ''}:`
        : kms
          ? `k8s:enc:kms:v2:${kms.name}:`
          : '';
    return resources.map((resource) => ({ resource, prefix }));
  });

/** Names of the keys of each rule, the writing one first. */
export const keyNames = (text: string): readonly (readonly string[])[] =>
  read(text).resources.flatMap(({ providers }) => {
    const names = providers.flatMap((provider) => {
      const type = keyedOf(provider);
      return type === undefined ? [] : keysOf(provider, type).map(({ name }) => name);
    });
    return names.length > 0 ? [names] : [];
  });

export interface KeyDescription {
  readonly name: string;
  readonly provider: string;
  readonly resources: string[];
  readonly isWriting: boolean;
  readonly createdAtMs: number | null;
}

const STAMP = /^key-(\d{4})(\d{2})(\d{2})t(\d{2})(\d{2})(\d{2})z$/;

/** The time in the name of a key of ours; null for any other. */
const createdAt = (name: string): number | null => {
  const [, ...parts] = STAMP.exec(name) ?? [];
  const [year = 0, month = 1, day = 1, hours = 0, minutes = 0, seconds = 0] = parts.map(Number);
  return parts.length === 0 ? null : Date.UTC(year, month - 1, day, hours, minutes, seconds);
};

/** Every key without its secret, in the order in which values are tried. */
export const describeKeys = (text: string): readonly KeyDescription[] =>
  read(text).resources.flatMap(({ resources, providers }) =>
    providers.flatMap((provider, at) => {
      const kms = provider['kms'] as { readonly name?: string } | undefined | null;
      const type = keyedOf(provider);
      const names =
        type !== undefined ? keysOf(provider, type).map(({ name }) => name) : kms ? [kms.name ?? ''] : [];
      return names.map((name, index) => ({
        name,
        provider: type ?? 'kms',
        resources: [...resources],
        isWriting: at === 0 && index === 0,
        createdAtMs: createdAt(name),
      }));
    }),
  );

const isPlain = (provider: ProviderEntry): boolean => 'identity' in provider;

const sortProviders = (text: string, before: (provider: ProviderEntry) => boolean): string => {
  const document = read(text);
  const resources = document.resources.map((rule) => ({
    ...rule,
    providers: [...rule.providers.filter(before), ...rule.providers.filter((one) => !before(one))],
  }));
  return stringify({ ...document, resources });
};

/** Values are read with the keys and written as they are: for the time in which not all servers have the keys. */
export const withPlainFirst = (text: string): string => {
  const document = read(text);
  // A rotation removes the plain provider.
  const resources = document.resources.map((rule) =>
    rule.providers.some(isPlain) ? rule : { ...rule, providers: [...rule.providers, { identity: {} }] },
  );
  return sortProviders(stringify({ ...document, resources }), isPlain);
};

export const withKeysFirst = (text: string): string => sortProviders(text, (provider) => !isPlain(provider));
