import { createHash } from 'node:crypto';
import type { GroupVersionKind } from '../../api/meta/index.ts';
import type { PublishedGroup, PublishedGroupVersion, PublishedResource } from './catalog.ts';
import { parseAccept, takes } from './accept.ts';
import { sortedResources } from './legacy-documents.ts';

export const AGGREGATED_GROUP = 'apidiscovery.k8s.io';
const AGGREGATED_KIND = 'APIGroupDiscoveryList';
const AGGREGATED_VERSIONS = ['v2', 'v2beta1'] as const;
export type AggregatedVersion = (typeof AGGREGATED_VERSIONS)[number];

export const aggregatedMediaType = (version: AggregatedVersion): string =>
  `application/json;g=${AGGREGATED_GROUP};v=${version};as=${AGGREGATED_KIND}`;

/**
 * Which form of a document a client wants: a version of the aggregated one (`/api` and `/apis` alone have it), the
 * legacy one, or nothing that we have. The first clause that can be met decides.
 */
export const negotiateDiscovery = (
  accept: string | undefined,
  canAggregate: boolean,
): AggregatedVersion | 'legacy' | 'yaml' | undefined => {
  for (const clause of parseAccept(accept)) {
    const as = clause.parameters.get('as');
    if (!takes(clause, 'application/json')) {
      if (as === undefined && takes(clause, 'application/yaml')) return 'yaml';
      continue;
    }
    if (as === undefined) return 'legacy';
    if (!canAggregate || as !== AGGREGATED_KIND || clause.parameters.get('g') !== AGGREGATED_GROUP) continue;
    const version = AGGREGATED_VERSIONS.find((known) => known === clause.parameters.get('v'));
    if (version) return version;
  }
  return undefined;
};

/** A kind of the same group version is named without either, as upstream has it. */
const responseKind = (home: PublishedResource, { group, version, kind }: GroupVersionKind): object =>
  group === home.group && version === home.version
    ? { group: '', version: '', kind }
    : { group, version, kind };

/** Resources that are not built in name their group version in any case. */
const fullKind = ({ group, version, kind }: GroupVersionKind): object => ({ group, version, kind });

const resourceEntry = (resource: PublishedResource, isBuiltIn: boolean): object => {
  const { plural, singular, namespaced, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: plural,
    responseKind: isBuiltIn ? responseKind(resource, resource) : fullKind(resource),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((sub) => ({
        subresource: sub.name,
        responseKind: isBuiltIn ? responseKind(resource, sub.kind) : fullKind(sub.kind),
        verbs: sub.verbs,
      })),
    }),
  };
};

const versionEntry = (published: PublishedGroupVersion): object => ({
  version: published.version,
  ...(published.resources.length > 0 && {
    resources: sortedResources(published).map((one) => resourceEntry(one, published.schemas === undefined)),
  }),
  freshness: published.freshness ?? 'Current',
});

export interface AggregatedDocument {
  readonly items: readonly object[];
  /** Of the content alone, whatever version it is spoken in. */
  readonly etag: string;
}

export const aggregatedDocument = (groups: readonly PublishedGroup[]): AggregatedDocument => {
  const items = groups.map(({ group, versions }) => ({
    metadata: group === '' ? {} : { name: group },
    versions: versions.map(versionEntry),
  }));
  const hash = createHash('sha512').update(JSON.stringify(items)).digest('hex').toUpperCase();
  return { items, etag: `"${hash}"` };
};

export const aggregatedList = (version: AggregatedVersion, items: readonly object[]): object => ({
  kind: AGGREGATED_KIND,
  apiVersion: `${AGGREGATED_GROUP}/${version}`,
  metadata: {},
  items,
});
