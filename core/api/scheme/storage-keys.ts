import { assert } from '../../base/assert.ts';
import type { ResourceType } from './resource-type.ts';

/** The etcd key of an object, byte for byte upstream's, so that either server finds what the other wrote. */
export const storageKeyOf = (type: ResourceType, namespace: string, name: string): string => {
  assert(name !== '', `an object of ${type.plural} is kept under its name`);
  return storagePrefixOf(type, namespace) + name;
};

/** The prefix of all objects of a type, or of those in one namespace. */
export const storagePrefixOf = (type: ResourceType, namespace = ''): string => {
  assert(type.storage !== undefined, `${type.plural} are not kept`);
  return type.namespaced && namespace !== '' ? `${type.storage.prefix}${namespace}/` : type.storage.prefix;
};

/** Custom resources are kept below their group. */
export const customResourcePrefix = (group: string, plural: string): string =>
  `/registry/${group}/${plural}/`;

export interface StoredName {
  readonly namespace: string;
  readonly name: string;
}

/** The reverse of `storageKeyOf`; undefined for a key of something else. */
export const parseStorageKey = (type: ResourceType, key: string): StoredName | undefined => {
  if (!type.storage || !key.startsWith(type.storage.prefix)) return undefined;
  const parts = key.slice(type.storage.prefix.length).split('/');
  if (parts.some((part) => part === '')) return undefined;
  if (!type.namespaced) return parts.length === 1 ? { namespace: '', name: parts[0]! } : undefined;
  return parts.length === 2 ? { namespace: parts[0]!, name: parts[1]! } : undefined;
};
