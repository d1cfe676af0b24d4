import { messageOf, ReasonError } from '../../base/errors.ts';
import { apiPathOf } from '../../api/meta/index.ts';
import { isObj, type Obj } from '../../api/validation/read.ts';
import type { PublishedGroupVersion, PublishedResource, RemoteDocuments } from '../discovery/catalog.ts';
import type { ResolvedEndpoint as Endpoint } from '../webhook/service-resolver.ts';
import type { RemoteApiService } from './api-service.ts';
import type { RemoteAnswer, RemoteClient } from './remote-client.ts';
import { openApiThreeUrl, swaggerPart } from './remote-openapi.ts';
import { aggregatedResources, legacyResources } from './remote-resources.ts';

const TIMEOUT_MS = 5_000;
const DISCOVERY_BYTES_MAX = 2 * 1024 * 1024;
/** Of an OpenAPI document; a server that has more is left out of the merged one. */
const OPENAPI_BYTES_MAX = 8 * 1024 * 1024;
const AGGREGATED = /^application\/json;.*g=apidiscovery\.k8s\.io.*as=APIGroupDiscoveryList/;
const ACCEPT_AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');

const parse = ({ body }: RemoteAnswer): Obj => {
  const value: unknown = JSON.parse(body.toString('utf8'));
  if (!isObj(value)) throw new ReasonError('BadDocument', 'the answer is not an object');
  return value;
};

interface Kept {
  readonly etag: string;
  readonly value: RemoteDocuments['swagger'];
}

/**
 * What one other server tells of its group version. Its documents are kept with their tags, so that asking again costs
 * next to nothing while nothing changes.
 */
export class RemoteDiscovery {
  readonly #client: RemoteClient;
  #resources: readonly PublishedResource[] = [];
  #swagger: Kept | undefined;
  #openApiThree: string | undefined;

  constructor(client: RemoteClient) {
    this.#client = client;
  }

  /** As the catalog publishes it. Never fails: a server that does not answer is stale, with what it said last. */
  async refresh(
    service: RemoteApiService,
  ): Promise<{ readonly published: PublishedGroupVersion; readonly problem?: string }> {
    let problem: string | undefined;
    try {
      if (!service.isAvailable) throw new ReasonError('Unavailable', 'service unavailable');
      const endpoint = await this.#client.resolve(service);
      this.#resources = await this.#askResources(service, endpoint);
      await this.#askOpenApi(service, endpoint);
    } catch (error) {
      problem = messageOf(error);
    }
    const { group, version, groupPriority, versionPriority } = service;
    return {
      ...(problem !== undefined && { problem }),
      published: {
        group,
        version,
        groupPriority,
        versionPriority,
        // As upstream: a server that does not answer is listed, without its resources.
        resources: problem === undefined ? this.#resources : [],
        freshness: problem === undefined ? 'Current' : 'Stale',
        remote: {
          ...(this.#openApiThree !== undefined && { openApiThree: this.#openApiThree }),
          ...(this.#swagger?.value && { swagger: this.#swagger.value }),
        },
      },
    };
  }

  #ask(
    service: RemoteApiService,
    endpoint: Endpoint,
    path: string,
    headers: Readonly<Record<string, string>>,
    bytesMax: number,
  ): Promise<RemoteAnswer> {
    return this.#client.get(service, endpoint, { path, headers, bytesMax, timeoutMs: TIMEOUT_MS });
  }

  async #askResources(service: RemoteApiService, endpoint: Endpoint): Promise<readonly PublishedResource[]> {
    const { group, version } = service;
    const answer = await this.#ask(
      service,
      endpoint,
      '/apis',
      { accept: ACCEPT_AGGREGATED },
      DISCOVERY_BYTES_MAX,
    );
    if (answer.code === 503) throw new ReasonError('Unavailable', 'returned non-success response code: 503');
    if (answer.code === 200 && AGGREGATED.test(answer.headers['content-type'] ?? ''))
      return aggregatedResources(parse(answer)).get(`${group}/${version}`) ?? [];
    const path = apiPathOf(service);
    const legacy = await this.#ask(
      service,
      endpoint,
      path,
      { accept: 'application/json' },
      DISCOVERY_BYTES_MAX,
    );
    if (legacy.code !== 200)
      throw new ReasonError('BadStatus', `failed to download legacy discovery for ${path}: ${legacy.code}`);
    return legacyResources(parse(legacy), service);
  }

  /** A server without these documents, or with broken ones, is still discovered. */
  async #askOpenApi(service: RemoteApiService, endpoint: Endpoint): Promise<void> {
    const accept = { accept: 'application/json' };
    const index = await this.#ask(service, endpoint, '/openapi/v3', accept, DISCOVERY_BYTES_MAX).catch(
      () => undefined,
    );
    this.#openApiThree = index?.code === 200 ? openApiThreeUrl(parseOrEmpty(index), service) : undefined;
    const known = this.#swagger?.etag ?? '';
    const swagger = await this.#ask(
      service,
      endpoint,
      '/openapi/v2',
      { ...accept, ...(known !== '' && { 'if-none-match': known }) },
      OPENAPI_BYTES_MAX,
    ).catch(() => undefined);
    if (swagger === undefined || swagger.code === 304) return;
    this.#swagger =
      swagger.code === 200
        ? { etag: swagger.headers.etag ?? '', value: swaggerPart(parseOrEmpty(swagger), service) }
        : undefined;
  }
}

const parseOrEmpty = (answer: RemoteAnswer): Obj => {
  try {
    return parse(answer);
  } catch {
    // Broken documents are as good as none.
    return {};
  }
};
