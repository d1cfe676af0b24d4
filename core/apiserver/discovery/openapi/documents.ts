import { apiPathOf } from '../../../api/meta/index.ts';
import type { OpenApiSchema } from '../../../api/schema/index.ts';
import type { DiscoveryCatalog, PublishedGroupVersion } from '../catalog.ts';
import { compressBytes, compressText, type CompressedDocument } from './compressed-document.ts';
import { DefinitionSource, referencesIn, type Definition } from './definitions.ts';
import { openApiPath } from './openapi-three.ts';
import { operationsOf, type ApiPath } from './operations.ts';
import { createPace, type Pace } from './pace.ts';
import { remotePart } from './remote-part.ts';
import { rootDocuments } from './root-operations.ts';
import { definitionEntry, documentMessage, pathEntry, type SwaggerHead } from './swagger-protobuf.ts';
import { swaggerPath } from './swagger-two.ts';

export interface OpenApiOptions {
  readonly catalog: DiscoveryCatalog;
  /** The version of the server, as `v1.36.0`. */
  readonly version: string;
}

/** The one document of OpenAPI 2, in both of its forms. */
export interface SwaggerDocument {
  readonly json: CompressedDocument;
  readonly protobuf: CompressedDocument;
}

const BEARER = {
  type: 'apiKey',
  description: 'Bearer Token authentication',
  name: 'authorization',
  in: 'header',
} as const;

/** The members of a JSON object, of which the values are JSON already. */
function* members(entries: Iterable<readonly [name: string, text: string]>): Generator<string> {
  let comma = '';
  for (const [name, text] of entries) {
    yield `${comma}${JSON.stringify(name)}:${text}`;
    comma = ',';
  }
}

const textsOf = (definitions: readonly Definition[]): (readonly [string, string])[] =>
  definitions.map(({ name, text }) => [name, text]);

const byPath = (a: ApiPath, b: ApiPath): number => (a.path < b.path ? -1 : 1);

/**
 * The OpenAPI documents, made when they are first asked for and kept compressed. A group version that is published
 * again is written again; the others stay. One that could not be made is tried again when it is next asked for.
 */
export class OpenApiDocuments {
  readonly #options: OpenApiOptions;
  #swagger: { readonly generation: number; readonly document: Promise<SwaggerDocument> } | undefined;
  #index: { readonly generation: number; readonly document: Promise<CompressedDocument> } | undefined;
  readonly #groupVersions = new Map<PublishedGroupVersion, Promise<CompressedDocument>>();
  readonly #roots = new Map<string, Promise<CompressedDocument>>();

  constructor(options: OpenApiOptions) {
    this.#options = options;
  }

  /** `/openapi/v2`. */
  swagger(): Promise<SwaggerDocument> {
    const { generation } = this.#options.catalog;
    if (this.#swagger?.generation === generation) return this.#swagger.document;
    const document = this.#writeSwagger();
    this.#swagger = { generation, document };
    document.catch(() => (this.#swagger = undefined));
    return document;
  }

  /** `/openapi/v3`: the addresses of all others. */
  index(): Promise<CompressedDocument> {
    const { generation } = this.#options.catalog;
    if (this.#index?.generation === generation) return this.#index.document;
    const document = this.#writeIndex();
    this.#index = { generation, document };
    document.catch(() => (this.#index = undefined));
    return document;
  }

  /** `/openapi/v3/<name>`, as `apis/apps/v1`; undefined for one that is not published. */
  named(name: string): Promise<CompressedDocument> | undefined {
    const published = this.#published().find((known) => nameOf(known) === name);
    if (published) return this.#groupVersion(published);
    const root = rootDocuments(this.#options.catalog.groups()).find((known) => known.name === name);
    return root && this.#root(root.name, root.paths);
  }

  /** Those that this server answers for. */
  #published(): readonly PublishedGroupVersion[] {
    return this.#all().filter(({ remote }) => remote === undefined);
  }

  #all(): readonly PublishedGroupVersion[] {
    return this.#options.catalog.groups().flatMap(({ versions }) => versions);
  }

  #groupVersion(published: PublishedGroupVersion, source?: DefinitionSource): Promise<CompressedDocument> {
    const known = this.#groupVersions.get(published);
    if (known) return known;
    const document = this.#writeThree(
      (pace) => operationsOf(published, this.#options.catalog.minor, pace),
      [published],
      source,
    );
    this.#groupVersions.set(published, document);
    document.catch(() => this.#groupVersions.delete(published));
    return document;
  }

  #root(name: string, paths: readonly ApiPath[], source?: DefinitionSource): Promise<CompressedDocument> {
    const known = this.#roots.get(name);
    if (known) return known;
    const document = this.#writeThree(() => paths, [], source);
    this.#roots.set(name, document);
    document.catch(() => this.#roots.delete(name));
    return document;
  }

  async #writeIndex(): Promise<CompressedDocument> {
    const source = await DefinitionSource.open(3, this.#options.catalog.minor);
    const roots = rootDocuments(this.#options.catalog.groups());
    const published = this.#published();
    this.#forgetWithdrawn(published, new Set(roots.map(({ name }) => name)));
    const entries: [string, string][] = [];
    const add = (name: string, { etag }: CompressedDocument): void => {
      const serverRelativeURL = urlOf(name, etag);
      entries.push([name, JSON.stringify({ serverRelativeURL })]);
    };
    // One after the other: together they would hold all their definitions at the same time.
    for (const { name, paths } of roots) add(name, await this.#root(name, paths, source));
    for (const gv of published) add(nameOf(gv), await this.#groupVersion(gv, source));
    for (const gv of this.#all())
      if (gv.remote?.openApiThree !== undefined)
        entries.push([nameOf(gv), JSON.stringify({ serverRelativeURL: gv.remote.openApiThree })]);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return compressText(['{"paths":{', ...members(entries), '}}']);
  }

  #forgetWithdrawn(published: readonly PublishedGroupVersion[], roots: ReadonlySet<string>): void {
    const kept = new Set(published);
    for (const known of this.#groupVersions.keys()) if (!kept.has(known)) this.#groupVersions.delete(known);
    for (const known of this.#roots.keys()) if (!roots.has(known)) this.#roots.delete(known);
  }

  async #writeThree(
    pathsOf: (pace: Pace) => readonly ApiPath[] | Promise<readonly ApiPath[]>,
    published: readonly PublishedGroupVersion[],
    known?: DefinitionSource,
  ): Promise<CompressedDocument> {
    const source = known ?? (await DefinitionSource.open(3, this.#options.catalog.minor));
    const pace = createPace();
    const paths = await pathsOf(pace);
    const texts: [string, string][] = [];
    const names = new Set<string>();
    for (const path of [...paths].sort(byPath)) {
      const text = JSON.stringify(openApiPath(path));
      for (const name of referencesIn(text)) names.add(name);
      texts.push([path.path, text]);
      const turn = pace();
      if (turn) await turn;
    }
    const definitions = await source.closure(names, published, published, pace);
    const info = { title: 'Kubernetes', version: this.#options.version };
    return compressText([
      `{"openapi":"3.0.0","info":${JSON.stringify(info)},"paths":{`,
      ...members(texts),
      '},"components":{"schemas":{',
      ...members(textsOf(definitions)),
      `},"securitySchemes":{"BearerToken":${JSON.stringify(BEARER)}}}}`,
    ]);
  }

  async #writeSwagger(): Promise<SwaggerDocument> {
    const published = this.#published();
    const roots = rootDocuments(this.#options.catalog.groups());
    const paths = roots.flatMap((root) => root.paths);
    const pace = createPace();
    for (const gv of published) paths.push(...(await operationsOf(gv, this.#options.catalog.minor, pace)));
    paths.sort(byPath);
    const texts: [string, string][] = [];
    const pathEntries: Buffer[] = [];
    const names = new Set<string>();
    for (const path of paths) {
      const item = swaggerPath(path);
      const text = JSON.stringify(item);
      for (const name of referencesIn(text)) names.add(name);
      texts.push([path.path, text]);
      pathEntries.push(pathEntry(path.path, item));
      const turn = pace();
      if (turn) await turn;
    }
    const source = await DefinitionSource.open(2, this.#options.catalog.minor);
    const written = await source.closure(names, published, published, pace);
    const remote = remotePart(this.#all(), new Set(written.map(({ name }) => name)));
    texts.push(...remote.paths.map(({ path, text }): [string, string] => [path, text]));
    texts.sort(([a], [b]) => (a < b ? -1 : 1));
    pathEntries.push(...remote.paths.map(({ entry }) => entry));
    const definitions = [...written, ...remote.definitions].sort((a, b) => (a.name < b.name ? -1 : 1));
    const definitionEntries: Buffer[] = [];
    for (const { name, text } of definitions) {
      definitionEntries.push(definitionEntry(name, JSON.parse(text) as OpenApiSchema));
      const turn = pace();
      if (turn) await turn;
    }
    const head: SwaggerHead = {
      swagger: '2.0',
      info: { title: 'Kubernetes', version: this.#options.version },
      security: [{ BearerToken: [] }],
      securityDefinitions: { BearerToken: BEARER },
    };
    const json = await compressText([
      `{"swagger":"2.0","info":${JSON.stringify(head.info)},"paths":{`,
      ...members(texts),
      '},"definitions":{',
      ...members(textsOf(definitions)),
      `},"securityDefinitions":${JSON.stringify(head.securityDefinitions)},"security":${JSON.stringify(head.security)}}`,
    ]);
    const protobuf = await compressBytes(documentMessage(head, pathEntries, definitionEntries), json.etag);
    return { json, protobuf };
  }
}

const nameOf = (published: PublishedGroupVersion): string => apiPathOf(published).slice(1);

/** The address of a document that never changes: another content has another hash. */
export const urlOf = (name: string, etag: string): string =>
  `/openapi/v3/${name}?hash=${etag.replaceAll('"', '')}`;
