import type { GroupVersion } from '../../../api/meta/index.ts';
import {
  definitionNameOf,
  loadDescriptions,
  openApiDefinition,
  specialDefinitions,
  typeIds,
  type OpenApiSchema,
  type OpenApiVersion,
  type TypeDescription,
} from '../../../api/schema/index.ts';
import type { PublishedGroupVersion } from '../catalog.ts';
import { META } from './operations.ts';
import { createPace, type Pace } from './pace.ts';

/** Kinds that every group version speaks, and that say so. */
const SPOKEN_EVERYWHERE = new Map([
  [`${META}.DeleteOptions`, 'DeleteOptions'],
  [`${META}.WatchEvent`, 'WatchEvent'],
]);

const REF = /"\$ref":"#\/(?:definitions|components\/schemas)\/([^"]+)"/g;

/** The definitions that a text refers to. */
export const referencesIn = (text: string): string[] => [...text.matchAll(REF)].map(([, name]) => name!);

export interface Definition {
  readonly name: string;
  readonly text: string;
}

/**
 * The definitions of one form of OpenAPI. They are written when they are asked for, and kept as text while the source
 * is: the documents of a server share most of them.
 */
export class DefinitionSource {
  readonly #version: OpenApiVersion;
  readonly #minor: number;
  readonly #describe: (typeId: string) => TypeDescription | undefined;
  readonly #ids = new Map(typeIds().map((id) => [definitionNameOf(id), id]));
  readonly #specials: Readonly<Record<string, OpenApiSchema>>;
  readonly #written = new Map<string, Definition>();

  private constructor(
    version: OpenApiVersion,
    minor: number,
    describe: (typeId: string) => TypeDescription | undefined,
  ) {
    this.#version = version;
    this.#minor = minor;
    this.#describe = describe;
    this.#specials = specialDefinitions(version);
  }

  /** The types as one release of Kubernetes has them. */
  static async open(version: OpenApiVersion, minor: number): Promise<DefinitionSource> {
    return new DefinitionSource(version, minor, await loadDescriptions());
  }

  /**
   * Everything that the names lead to, sorted. `spokenIn` are the group versions whose documents these are for. A name
   * that nothing defines is left out: a custom resource may refer to what another server defines.
   */
  async closure(
    names: Iterable<string>,
    spokenIn: readonly GroupVersion[],
    published: readonly PublishedGroupVersion[],
    pace: Pace = createPace(),
  ): Promise<readonly Definition[]> {
    const added = this.#added(published);
    const found = new Map<string, Definition>();
    const pending = [...new Set(names)];
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (found.has(name)) continue;
      const definition = this.#find(name, added, spokenIn);
      if (!definition) continue;
      found.set(name, definition);
      const turn = pace();
      if (turn) await turn;
      pending.push(...referencesIn(definition.text).filter((other) => !found.has(other)));
    }
    return [...found.keys()].sort().map((name) => found.get(name)!);
  }

  #added(published: readonly PublishedGroupVersion[]): ReadonlyMap<string, OpenApiSchema> {
    return new Map(
      published.flatMap(({ schemas }) => (schemas ? Object.entries(schemas.definitions(this.#version)) : [])),
    );
  }

  #find(
    name: string,
    added: ReadonlyMap<string, OpenApiSchema>,
    spokenIn: readonly GroupVersion[],
  ): Definition | undefined {
    const own = added.get(name);
    if (own) return { name, text: JSON.stringify(own) };
    const spoken = SPOKEN_EVERYWHERE.get(name);
    const known = spoken === undefined ? this.#written.get(name) : undefined;
    if (known) return known;
    const schema = this.#write(name);
    if (!schema) return undefined;
    if (spoken !== undefined)
      schema['x-kubernetes-group-version-kind'] = [{ group: '', version: 'v1' }, ...spokenIn]
        .filter(({ group, version }, at) => at === 0 || group !== '' || version !== 'v1')
        .map(({ group, version }) => ({ group, kind: spoken, version }));
    const definition = { name, text: JSON.stringify(schema) };
    if (spoken === undefined) this.#written.set(name, definition);
    return definition;
  }

  #write(name: string): OpenApiSchema | undefined {
    const id = this.#ids.get(name);
    if (id !== undefined) return openApiDefinition(id, this.#version, this.#describe(id), this.#minor);
    const special = this.#specials[name];
    return special && { ...special };
  }
}
