import { apiPathOf, parseApiVersion, type GroupVersion } from '../../api/meta/group-version.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import { messageOf } from '../../base/errors.ts';
import type { Client, RequestOptions } from '../client.ts';
import type { Kind } from '../kind.ts';

/** A resource as the server offers it; also a `Kind`, so that clients and informers take it as it is. */
export interface DiscoveredResource extends Kind {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** Names alone: `status`, `scale`. */
  readonly subresources: readonly string[];
  /** The version in which the server prefers to speak of the group. */
  readonly isPreferred: boolean;
}

export interface Discovery {
  readonly resources: readonly DiscoveredResource[];
  /**
   * Group versions (`metrics.k8s.io/v1beta1`) whose server did not answer. Anyone who deletes what is in no resource
   * must know of them: their resources are missing above, not gone.
   */
  readonly failed: ReadonlyMap<string, string>;
}

const AGGREGATED = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const ACCEPT = [AGGREGATED('v2'), AGGREGATED('v2beta1'), 'application/json'].join(',');
/** Group versions requested concurrently where the server has no aggregated discovery. */
const PARALLEL_MAX = 10;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Everything the server offers: two requests where discovery is aggregated, else one for each group version. */
export const discover = async (client: Client, options: RequestOptions = {}): Promise<Discovery> => {
  const failed = new Map<string, string>();
  const read = (path: string): Promise<Fields> =>
    client.json<Fields>({ method: 'GET', path, accept: ACCEPT, ...options });
  const [core, groups] = await Promise.all([read('/api'), read('/apis')]);
  const resources: DiscoveredResource[] = [];
  const legacy: (GroupVersion & { readonly isPreferred: boolean })[] = [];
  for (const document of [core, groups])
    if (document['kind'] === 'APIGroupDiscoveryList')
      resources.push(...aggregatedResources(document, failed));
    else legacy.push(...legacyVersions(document));
  for (let i = 0; i < legacy.length; i += PARALLEL_MAX) {
    const lists = await Promise.all(
      legacy.slice(i, i + PARALLEL_MAX).map(async (version) => {
        try {
          return legacyResources(await read(apiPathOf(version)), version);
        } catch (error) {
          if (options.signal?.aborted) throw error;
          failed.set(`${version.group}/${version.version}`, messageOf(error));
          return [];
        }
      }),
    );
    resources.push(...lists.flat());
  }
  return { resources, failed };
};

const aggregatedResources = (document: Fields, failed: Map<string, string>): DiscoveredResource[] =>
  listOf(document['items']).flatMap((item) => {
    const group = textOf(fieldsOf(item['metadata'])['name']);
    return listOf(item['versions']).flatMap((served, index) => {
      const version = textOf(served['version']);
      if (served['freshness'] === 'Stale') failed.set(`${group}/${version}`, 'stale GroupVersion discovery');
      return listOf(served['resources']).map((resource) => ({
        group,
        version,
        kind: textOf(fieldsOf(resource['responseKind'])['kind']),
        plural: textOf(resource['resource']),
        namespaced: resource['scope'] === 'Namespaced',
        singular: textOf(resource['singularResource']),
        shortNames: textsOf(resource['shortNames']),
        categories: textsOf(resource['categories']),
        verbs: textsOf(resource['verbs']),
        subresources: listOf(resource['subresources']).map((sub) => textOf(sub['subresource'])),
        isPreferred: index === 0,
      }));
    });
  });

/** Of `/api` (APIVersions) or `/apis` (APIGroupList). */
const legacyVersions = (document: Fields): (GroupVersion & { readonly isPreferred: boolean })[] => [
  ...textsOf(document['versions']).map((version, index) => ({
    group: '',
    version,
    isPreferred: index === 0,
  })),
  ...listOf(document['groups']).flatMap((group) => {
    const preferred = textOf(fieldsOf(group['preferredVersion'])['version']);
    return listOf(group['versions']).flatMap((entry) => {
      const gv = parseApiVersion(textOf(entry['groupVersion']));
      return gv ? [{ ...gv, isPreferred: gv.version === preferred }] : [];
    });
  }),
];

const legacyResources = (
  document: Fields,
  { isPreferred, ...gv }: GroupVersion & { readonly isPreferred: boolean },
): DiscoveredResource[] => {
  const entries = listOf(document['resources']);
  const subresources = new Map<string, string[]>();
  for (const entry of entries) {
    const [plural = '', ...below] = textOf(entry['name']).split('/');
    if (below.length > 0) subresources.set(plural, [...(subresources.get(plural) ?? []), below.join('/')]);
  }
  return entries
    .filter((entry) => !textOf(entry['name']).includes('/'))
    .map((entry) => ({
      // A resource may say that it is of another group version than the list that it stands in.
      group: textOf(entry['group']) || gv.group,
      version: textOf(entry['version']) || gv.version,
      kind: textOf(entry['kind']),
      plural: textOf(entry['name']),
      namespaced: entry['namespaced'] === true,
      singular: textOf(entry['singularName']),
      shortNames: textsOf(entry['shortNames']),
      categories: textsOf(entry['categories']),
      verbs: textsOf(entry['verbs']),
      subresources: subresources.get(textOf(entry['name'])) ?? [],
      isPreferred,
    }));
};
