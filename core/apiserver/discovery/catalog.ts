import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { compareKubeVersions, type GroupVersion } from '../../api/meta/index.ts';
import type { OpenApiSchema, OpenApiVersion } from '../../api/schema/index.ts';
import { GROUP_PRIORITIES, registryOf, type ResourceType } from '../../api/scheme/index.ts';

/** A resource as discovery tells of it. */
export type PublishedResource = ResourceType;

/** The schemas of a group version that is not built in. */
export interface PublishedSchemas {
  /** The name of a kind's definition; undefined for a kind without one. */
  definitionNameOf(kind: string): string | undefined;
  definitions(version: OpenApiVersion): Readonly<Record<string, OpenApiSchema>>;
}

/** A part of an OpenAPI 2 document as another server wrote it: names and JSON. */
export interface RemoteSwagger {
  readonly paths: readonly (readonly [path: string, text: string])[];
  readonly definitions: readonly (readonly [name: string, text: string])[];
}

/** The documents of a group version that another server answers for: they are its own, not written here. */
export interface RemoteDocuments {
  /** The address of its OpenAPI 3 document below `/openapi/v3/`, which requests are proxied to. */
  readonly openApiThree?: string;
  readonly swagger?: RemoteSwagger;
}

export interface PublishedGroupVersion extends GroupVersion {
  /** The higher, the earlier its group is listed; the highest of a group's versions counts. */
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly resources: readonly PublishedResource[];
  /** Stale where another server should have told and did not. */
  readonly freshness?: 'Current' | 'Stale';
  readonly schemas?: PublishedSchemas;
  /** Present where another server answers. */
  readonly remote?: RemoteDocuments;
}

export interface PublishedGroup {
  readonly group: string;
  /** Preferred first. */
  readonly versions: readonly PublishedGroupVersion[];
}

/** Upstream's priority of all built-in versions of a group; the version's name decides among them. */
const BUILT_IN_VERSION_PRIORITY = 15;

const keyOf = ({ group, version }: GroupVersion): string => `${group}/${version}`;

const builtIn = (minor: number): PublishedGroupVersion[] => {
  const registry = registryOf(minor);
  return registry.groups.flatMap(({ group, versions }) =>
    versions.map((version) => ({
      group,
      version,
      groupPriority: GROUP_PRIORITIES[group] ?? 0,
      versionPriority: BUILT_IN_VERSION_PRIORITY,
      resources: registry.resourcesOf({ group, version }),
    })),
  );
};

const byVersion = (a: PublishedGroupVersion, b: PublishedGroupVersion): number =>
  b.versionPriority - a.versionPriority || compareKubeVersions(a.version, b.version);

const priorityOf = ({ versions }: PublishedGroup): number =>
  Math.max(...versions.map((version) => version.groupPriority));

const byGroup = (a: PublishedGroup, b: PublishedGroup): number =>
  priorityOf(b) - priorityOf(a) || (a.group < b.group ? -1 : 1);

/**
 * Which group versions this server publishes: the built-in ones of a release, and those that custom resources and
 * other API servers bring while it runs. Documents are made from it when they are next asked for.
 */
export class DiscoveryCatalog {
  /** The release whose built-in kinds are published. */
  readonly minor: number;
  readonly #builtIn: ReadonlyMap<string, PublishedGroupVersion>;
  readonly #added = new Map<string, PublishedGroupVersion>();
  readonly #listeners = new Set<() => void>();
  #groups: readonly PublishedGroup[] | undefined;
  #generation = 0;

  constructor(minor: number) {
    this.minor = minor;
    this.#builtIn = new Map(builtIn(minor).map((published) => [keyOf(published), published]));
  }

  /** Moves with every change: what was made at another generation is out of date. */
  get generation(): number {
    return this.#generation;
  }

  /** In the order of discovery: the core group is the one with no name. */
  groups(): readonly PublishedGroup[] {
    if (this.#groups) return this.#groups;
    const groups = new Map<string, PublishedGroupVersion[]>();
    // A built-in version stands above one of the same name that came later.
    for (const published of new Map([...this.#added, ...this.#builtIn]).values())
      groups.set(published.group, [...(groups.get(published.group) ?? []), published]);
    this.#groups = [...groups]
      .map(([group, versions]) => ({ group, versions: versions.sort(byVersion) }))
      .sort(byGroup);
    return this.#groups;
  }

  /** Told after every change. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  isBuiltIn(gv: GroupVersion): boolean {
    return this.#builtIn.has(keyOf(gv));
  }

  find(gv: GroupVersion): PublishedGroupVersion | undefined {
    return this.#builtIn.get(keyOf(gv)) ?? this.#added.get(keyOf(gv));
  }

  /** Adds a group version, or replaces the one added before under its name. */
  publish(published: PublishedGroupVersion): void {
    this.#added.set(keyOf(published), published);
    this.#changed();
  }

  withdraw(gv: GroupVersion): void {
    if (this.#added.delete(keyOf(gv))) this.#changed();
  }

  #changed(): void {
    this.#groups = undefined;
    this.#generation += 1;
    for (const listener of this.#listeners) listener();
  }
}
