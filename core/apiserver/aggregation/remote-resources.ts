import type { GroupVersion, GroupVersionKind } from '../../api/meta/index.ts';
import { ALL_VERBS, type Subresource, type Verb } from '../../api/scheme/index.ts';
import { isTrue, maybeObj, objs, str, strs, type Obj } from '../../api/validation/read.ts';
import type { PublishedResource } from '../discovery/catalog.ts';

/** What one server may tell of: discovery of the whole cluster must not drown in it. */
const RESOURCES_MAX = 1_000;
const SUBRESOURCES_MAX = 100;

const isVerb = (text: string): text is Verb => (ALL_VERBS as readonly string[]).includes(text);
const verbsOf = (of: Obj): Verb[] => strs(of, 'verbs').filter(isVerb);

const kindIn = (of: Obj | undefined, home: GroupVersion): GroupVersionKind => ({
  group: (of && str(of, 'group')) || home.group,
  version: (of && str(of, 'version')) || home.version,
  kind: of ? str(of, 'kind') : '',
});

const subresource = (name: string, kind: GroupVersionKind, verbs: readonly Verb[]): Subresource => ({
  name,
  kind,
  verbs,
  connects: false,
});

/** A version of an aggregated discovery document, `apidiscovery.k8s.io`. */
const fromAggregated = (resource: Obj, home: GroupVersion): PublishedResource => ({
  ...kindIn(maybeObj(resource, 'responseKind'), home),
  group: home.group,
  version: home.version,
  listKind: '',
  plural: str(resource, 'resource'),
  singular: str(resource, 'singularResource'),
  namespaced: str(resource, 'scope') === 'Namespaced',
  shortNames: strs(resource, 'shortNames'),
  categories: strs(resource, 'categories'),
  verbs: verbsOf(resource),
  subresources: objs(resource, 'subresources')
    .slice(0, SUBRESOURCES_MAX)
    .map((sub) =>
      subresource(str(sub, 'subresource'), kindIn(maybeObj(sub, 'responseKind'), home), verbsOf(sub)),
    ),
});

/** The resources of every version in an APIGroupDiscoveryList, by `group/version`. */
export const aggregatedResources = (document: Obj): ReadonlyMap<string, readonly PublishedResource[]> => {
  const found = new Map<string, readonly PublishedResource[]>();
  for (const item of objs(document, 'items').slice(0, RESOURCES_MAX)) {
    const group = str(maybeObj(item, 'metadata') ?? {}, 'name');
    for (const entry of objs(item, 'versions').slice(0, RESOURCES_MAX)) {
      const home = { group, version: str(entry, 'version') };
      const resources = objs(entry, 'resources').slice(0, RESOURCES_MAX);
      found.set(
        `${group}/${home.version}`,
        resources.map((resource) => fromAggregated(resource, home)),
      );
    }
  }
  return found;
};

/** The resources of an APIResourceList: subresources stand beside their resource there. */
export const legacyResources = (document: Obj, home: GroupVersion): readonly PublishedResource[] => {
  const entries = objs(document, 'resources').slice(0, RESOURCES_MAX);
  const subresourcesOf = (plural: string): Subresource[] =>
    entries
      .filter((entry) => str(entry, 'name').startsWith(`${plural}/`))
      .slice(0, SUBRESOURCES_MAX)
      .map((entry) =>
        subresource(str(entry, 'name').slice(plural.length + 1), kindIn(entry, home), verbsOf(entry)),
      );
  return entries
    .filter((entry) => str(entry, 'name') !== '' && !str(entry, 'name').includes('/'))
    .map((entry) => ({
      ...kindIn(entry, home),
      group: home.group,
      version: home.version,
      listKind: '',
      plural: str(entry, 'name'),
      singular: str(entry, 'singularName'),
      namespaced: isTrue(entry, 'namespaced'),
      shortNames: strs(entry, 'shortNames'),
      categories: strs(entry, 'categories'),
      verbs: verbsOf(entry),
      subresources: subresourcesOf(str(entry, 'name')),
    }));
};
