import type { GroupKind, GroupResource, GroupVersion, GroupVersionResource } from '../meta/group-version.ts';
import { compareKubeVersions } from '../meta/group-version.ts';
import { CONTROL_PLANE_RESOURCES } from './groups/control-plane.ts';
import { CORE_RESOURCES } from './groups/core.ts';
import { NETWORKING_RESOURCES } from './groups/networking.ts';
import { STORAGE_RESOURCES } from './groups/storage.ts';
import { WORKLOAD_RESOURCES } from './groups/workloads.ts';
import { releaseOf } from '../releases/release.ts';
import type { ResourceType } from './resource-type.ts';

/** Every built-in resource in every version of it that some emulated release serves. */
export const RESOURCES: readonly ResourceType[] = [
  ...CORE_RESOURCES,
  ...WORKLOAD_RESOURCES,
  ...NETWORKING_RESOURCES,
  ...STORAGE_RESOURCES,
  ...CONTROL_PLANE_RESOURCES,
];

/** Groups in the order discovery lists them: higher first, as upstream's APIServices have it. */
export const GROUP_PRIORITIES: Readonly<Record<string, number>> = {
  '': 18_000,
  'apiregistration.k8s.io': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'admissionregistration.k8s.io': 16_700,
  'apiextensions.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
};

export interface ServedGroup {
  readonly group: string;
  /** Preferred first. */
  readonly versions: readonly string[];
}

const keyOf = ({ group, version }: GroupVersion, name: string): string => `${group}/${version}/${name}`;

/** What one emulated release serves, with lookups by path and by kind. */
export class ResourceRegistry {
  readonly minor: number;
  readonly resources: readonly ResourceType[];
  readonly groups: readonly ServedGroup[];
  readonly #byResource = new Map<string, ResourceType>();
  readonly #byKind = new Map<string, ResourceType>();

  constructor(minor: number) {
    this.minor = minor;
    const release = releaseOf(minor);
    this.resources = RESOURCES.filter(({ group, version, kind }) =>
      release.hasKind(`${group}/${version} ${kind}`),
    );
    for (const type of this.resources) {
      this.#byResource.set(keyOf(type, type.plural), type);
      this.#byKind.set(keyOf(type, type.kind), type);
    }
    this.groups = servedGroups(this.resources);
  }

  findByResource(gvr: GroupVersionResource): ResourceType | undefined {
    return this.#byResource.get(keyOf(gvr, gvr.resource));
  }

  findByKind(gvk: GroupVersion & { readonly kind: string }): ResourceType | undefined {
    return this.#byKind.get(keyOf(gvk, gvk.kind));
  }

  /** The resource in its preferred version. */
  findPreferred(name: GroupResource | GroupKind): ResourceType | undefined {
    const versions = this.groups.find((group) => group.group === name.group)?.versions ?? [];
    for (const version of versions) {
      const gv = { group: name.group, version };
      const found =
        'kind' in name
          ? this.findByKind({ ...gv, kind: name.kind })
          : this.findByResource({ ...gv, resource: name.resource });
      if (found) return found;
    }
    return undefined;
  }

  resourcesOf(gv: GroupVersion): readonly ResourceType[] {
    return this.resources.filter((type) => type.group === gv.group && type.version === gv.version);
  }
}

const servedGroups = (resources: readonly ResourceType[]): readonly ServedGroup[] => {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of resources)
    versions.set(group, (versions.get(group) ?? new Set()).add(version));
  return [...versions]
    .map(([group, set]) => ({ group, versions: [...set].sort(compareKubeVersions) }))
    .sort((a, b) => priority(b.group) - priority(a.group) || (a.group < b.group ? -1 : 1));
};

const priority = (group: string): number => GROUP_PRIORITIES[group] ?? 0;

const registries = new Map<number, ResourceRegistry>();

/** The registry of a release, made once. A release we do not emulate is answered by the nearest we do. */
export const registryOf = (minor: number): ResourceRegistry => {
  const nearest = releaseOf(minor).minor;
  const known = registries.get(nearest);
  if (known) return known;
  const registry = new ResourceRegistry(nearest);
  registries.set(nearest, registry);
  return registry;
};
