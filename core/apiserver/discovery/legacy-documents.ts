import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../api/meta/index.ts';
import type { PublishedGroup, PublishedGroupVersion, PublishedResource } from './catalog.ts';

const HASH_BYTES = 8;

/** Tells clients when the version that objects are kept in has changed. */
const storageVersionHash = ({ storage }: PublishedResource): string | undefined => {
  if (!storage) return undefined;
  const { group, version, kind } = storage.gvk;
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
};

const resourceEntries = (resource: PublishedResource): object[] => {
  const { group, version, plural, singular, namespaced, kind, verbs, shortNames, categories } = resource;
  const hash = storageVersionHash(resource);
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
      ...(hash !== undefined && { storageVersionHash: hash }),
    },
    ...resource.subresources.map((sub) => ({
      name: `${plural}/${sub.name}`,
      singularName: '',
      namespaced,
      // Named only where the kind is of another group version than the list.
      ...((sub.kind.group !== group || sub.kind.version !== version) && {
        group: sub.kind.group,
        version: sub.kind.version,
      }),
      kind: sub.kind.kind,
      verbs: sub.verbs,
    })),
  ];
};

const byPlural = (a: PublishedResource, b: PublishedResource): number => (a.plural < b.plural ? -1 : 1);

export const sortedResources = ({ resources }: PublishedGroupVersion): readonly PublishedResource[] =>
  [...resources].sort(byPlural);

/** `/api/v1`, `/apis/<group>/<version>`. The core group's list has no version of its own, since release 1.1. */
export const apiResourceList = (published: PublishedGroupVersion): object => ({
  kind: 'APIResourceList',
  ...(published.group !== '' && { apiVersion: 'v1' }),
  groupVersion: apiVersionOf(published),
  resources: sortedResources(published).flatMap(resourceEntries),
});

const groupEntry = ({ group, versions }: PublishedGroup): object => {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
};

/** `/apis/<group>`. */
export const apiGroup = (published: PublishedGroup): object => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupEntry(published),
});

/** `/apis`. */
export const apiGroupList = (groups: readonly PublishedGroup[]): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter(({ group }) => group !== '').map(groupEntry),
});

/** `/api`; the address is where clients of any network reach this server. */
export const apiVersions = (groups: readonly PublishedGroup[], serverAddress: string): object => ({
  kind: 'APIVersions',
  versions: groups
    .filter(({ group }) => group === '')
    .flatMap(({ versions }) => versions.map((v) => v.version)),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});
