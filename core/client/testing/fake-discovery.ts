import { apiVersionOf } from '../../api/meta/group-version.ts';
import type { ResourceRegistry } from '../../api/scheme/registry.ts';
import type { ResourceType } from '../../api/scheme/resource-type.ts';

/** Discovery as older servers have it, which every client understands. */
export const discoveryAnswer = (
  path: string,
  registry: ResourceRegistry,
  custom: readonly ResourceType[],
): object | undefined => {
  const types = [...registry.resources, ...custom];
  const parts = path.split('/').slice(1);
  if (path === '/version')
    return { major: '1', minor: String(registry.minor), gitVersion: `v1.${registry.minor}.0` };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(types) };
  const gv =
    parts[0] === 'api' && parts.length === 2
      ? { group: '', version: parts[1]! }
      : parts[0] === 'apis' && parts.length === 3
        ? { group: parts[1]!, version: parts[2]! }
        : undefined;
  if (!gv) return undefined;
  const found = types.filter(({ group, version }) => group === gv.group && version === gv.version);
  if (found.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(gv),
    resources: found.flatMap(resourcesOf),
  };
};

const groupsOf = (types: readonly ResourceType[]): object[] => {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of types)
    if (group !== '') versions.set(group, (versions.get(group) ?? new Set()).add(version));
  return [...versions].map(([name, set]) => {
    const listed = [...set].map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: listed, preferredVersion: listed[0] };
  });
};

const resourcesOf = (type: ResourceType): object[] => [
  {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: type.verbs,
    shortNames: type.shortNames,
    categories: type.categories,
  },
  ...type.subresources.map((subresource) => ({
    name: `${type.plural}/${subresource.name}`,
    singularName: '',
    namespaced: type.namespaced,
    kind: subresource.kind.kind,
    verbs: subresource.verbs,
  })),
];
