import { assert } from '../../base/assert.ts';
import { apiPathOf, apiVersionOf } from '../../api/meta/group-version.ts';
import type { KubernetesObject, ListMeta } from '../../api/meta/object-meta.ts';
import { isNotFound, type Status } from '../../api/meta/status.ts';
import type { V1Scale } from '../../api/schema/index.ts';
import type {
  ApplyOptions,
  ByteStream,
  Client,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectList,
  Patch,
  PatchOptions,
  Query,
  RawRequest,
  RequestOptions,
  ResourceClient,
  Selectors,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from '../client.ts';
import type { Kind, Stored } from '../kind.ts';
import { watchStream } from './watch-stream.ts';

const PATCH_TYPES: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

const LIST_PAGE_ITEMS = 500;

interface RawList {
  readonly metadata?: ListMeta;
  readonly items?: readonly KubernetesObject[] | null;
}

type Sender = Pick<Client, 'json' | 'stream'>;

export class RestResourceClient<T extends KubernetesObject> implements ResourceClient<T> {
  readonly kind: Kind<T>;
  readonly namespace: string | undefined;
  readonly #client: Sender;

  constructor(client: Sender, kind: Kind<T>, namespace: string | undefined) {
    this.#client = client;
    this.kind = kind;
    this.namespace = kind.namespaced && namespace !== '' ? namespace : undefined;
  }

  in(namespace: string | undefined): ResourceClient<T> {
    return new RestResourceClient(this.#client, this.kind, namespace);
  }

  get(name: string, options?: GetOptions): Promise<Stored<T>> {
    return this.#json('GET', this.#pathOf(name), options, {
      query: { resourceVersion: options?.resourceVersion },
    });
  }

  async find(name: string, options?: GetOptions): Promise<Stored<T> | undefined> {
    try {
      return await this.get(name, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list(options: ListOptions = {}): Promise<ObjectList<T>> {
    const { signal: _, timeoutMs: __, ...query } = options;
    const list = await this.#json<RawList>('GET', this.#collectionPath(this.namespace), options, { query });
    // Items of a list come without their kind; components ask objects for it.
    const type = { apiVersion: apiVersionOf(this.kind), kind: this.kind.kind };
    const items = (list.items ?? []).map((item) => ({ ...type, ...item }) as Stored<T>);
    return { metadata: list.metadata ?? {}, items };
  }

  async *iterate(options: ListOptions = {}): AsyncGenerator<Stored<T>, void, void> {
    const { resourceVersion: _, resourceVersionMatch: __, ...pages } = options;
    let page = await this.list({ limit: LIST_PAGE_ITEMS, ...options });
    yield* page.items;
    while (page.metadata.continue) {
      page = await this.list({ limit: LIST_PAGE_ITEMS, ...pages, continue: page.metadata.continue });
      yield* page.items;
    }
  }

  async watch(options: WatchOptions = {}): Promise<WatchStream<T>> {
    const { signal: _, timeoutMs: __, ...query } = options;
    const bytes = await this.#client.stream({
      method: 'GET',
      path: this.#collectionPath(this.namespace),
      query: { ...query, watch: true },
      ...requestOptionsOf(options),
    });
    return watchStream<T>(bytes);
  }

  create(object: T, options?: WriteOptions): Promise<Stored<T>> {
    return this.#json('POST', this.#collectionPath(this.#namespaceOf(object)), options, {
      body: this.#typed(object),
      query: writeQuery(options),
    });
  }

  update(object: T, options?: WriteOptions): Promise<Stored<T>> {
    return this.#put(object, undefined, options);
  }

  updateStatus(object: T, options?: WriteOptions): Promise<Stored<T>> {
    return this.#put(object, 'status', options);
  }

  patch(name: string, patch: Patch, options?: PatchOptions): Promise<Stored<T>> {
    return this.#patch(this.#pathOf(name, options?.subresource), patch, options);
  }

  patchStatus(name: string, patch: Patch, options?: PatchOptions): Promise<Stored<T>> {
    return this.patch(name, patch, { ...options, subresource: 'status' });
  }

  apply(object: T, options: ApplyOptions): Promise<Stored<T>> {
    const path = this.#objectPath(object, options.subresource);
    return this.#patch(path, { type: 'apply', body: this.#typed(object) }, options);
  }

  applyStatus(object: T, options: ApplyOptions): Promise<Stored<T>> {
    return this.apply(object, { ...options, subresource: 'status' });
  }

  delete(name: string, options?: DeleteOptions): Promise<Stored<T> | Status> {
    return this.#json('DELETE', this.#pathOf(name), options, { body: deleteBody(options) });
  }

  async deleteCollection(selectors: Selectors, options?: DeleteOptions): Promise<void> {
    const { labelSelector, fieldSelector } = selectors;
    await this.#json('DELETE', this.#collectionPath(this.namespace), options, {
      body: deleteBody(options),
      query: { labelSelector, fieldSelector },
    });
  }

  getScale(name: string, options?: GetOptions): Promise<Stored<V1Scale>> {
    return this.getSubresource(name, 'scale', options);
  }

  updateScale(name: string, scale: V1Scale, options?: WriteOptions): Promise<Stored<V1Scale>> {
    const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', ...scale };
    return this.updateSubresource(name, 'scale', body as Stored<V1Scale>, options);
  }

  getSubresource<S>(name: string, subresource: string, options?: GetOptions): Promise<S> {
    return this.#json('GET', this.#pathOf(name, subresource), options);
  }

  updateSubresource<S>(name: string, subresource: string, body: S, options?: WriteOptions): Promise<S> {
    return this.#json('PUT', this.#pathOf(name, subresource), options, { body, query: writeQuery(options) });
  }

  createSubresource<S, R = S>(
    name: string,
    subresource: string,
    body: S,
    options?: WriteOptions,
  ): Promise<R> {
    return this.#json('POST', this.#pathOf(name, subresource), options, { body, query: writeQuery(options) });
  }

  stream(name: string, subresource: string, query?: Query, options?: RequestOptions): Promise<ByteStream> {
    return this.#client.stream({
      method: 'GET',
      path: this.#pathOf(name, subresource),
      accept: '*/*',
      ...(query && { query }),
      ...requestOptionsOf(options),
    });
  }

  #put(object: T, subresource: string | undefined, options: WriteOptions | undefined): Promise<Stored<T>> {
    return this.#json('PUT', this.#objectPath(object, subresource), options, {
      body: this.#typed(object),
      query: writeQuery(options),
    });
  }

  #patch(path: string, patch: Patch, options: PatchOptions | undefined): Promise<Stored<T>> {
    return this.#json('PATCH', path, options, {
      body: patch.body,
      contentType: PATCH_TYPES[patch.type],
      query: { ...writeQuery(options), force: options?.force },
    });
  }

  #json<R>(
    method: RawRequest['method'],
    path: string,
    options: RequestOptions | undefined,
    more: Pick<RawRequest, 'body' | 'query' | 'contentType'> = {},
  ): Promise<R> {
    // A text is sent as it is, so what must arrive as JSON is made JSON here.
    const body = more.body === undefined ? {} : { body: JSON.stringify(more.body) };
    return this.#client.json<R>({ method, path, ...more, ...body, ...requestOptionsOf(options) });
  }

  /** Servers refuse bodies that do not say what they are. */
  #typed(object: T): T {
    return { ...object, apiVersion: apiVersionOf(this.kind), kind: this.kind.kind };
  }

  #namespaceOf(object: T): string | undefined {
    return this.kind.namespaced ? (this.namespace ?? object.metadata?.namespace) : undefined;
  }

  #objectPath(object: T, subresource?: string): string {
    return this.#path(this.#namespaceOf(object), object.metadata?.name ?? '', subresource);
  }

  #pathOf(name: string, subresource?: string): string {
    return this.#path(this.namespace, name, subresource);
  }

  #path(namespace: string | undefined, name: string, subresource?: string): string {
    const { kind } = this;
    assert(name !== '', `a request for ${kind.plural} requires a name`);
    assert(!kind.namespaced || namespace !== undefined, `${kind.plural} ${name} requires a namespace`);
    const below = subresource === undefined ? '' : `/${subresource}`;
    return `${this.#collectionPath(namespace)}/${encodeURIComponent(name)}${below}`;
  }

  #collectionPath(namespace: string | undefined): string {
    const home = apiPathOf(this.kind);
    return namespace === undefined
      ? `${home}/${this.kind.plural}`
      : `${home}/namespaces/${encodeURIComponent(namespace)}/${this.kind.plural}`;
  }
}

const writeQuery = (options: WriteOptions | undefined): Query => ({
  dryRun: options?.dryRun ? 'All' : undefined,
  fieldManager: options?.fieldManager,
  fieldValidation: options?.fieldValidation,
});

const deleteBody = (options: DeleteOptions | undefined): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...(options?.gracePeriodSeconds !== undefined && { gracePeriodSeconds: options.gracePeriodSeconds }),
  ...(options?.propagationPolicy && { propagationPolicy: options.propagationPolicy }),
  ...(options?.preconditions && { preconditions: options.preconditions }),
  ...(options?.dryRun && { dryRun: ['All'] }),
});

/** The options of a request without those that go into its query. */
const requestOptionsOf = (options: RequestOptions | undefined): RequestOptions => ({
  ...(options?.signal && { signal: options.signal }),
  ...(options?.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
});
