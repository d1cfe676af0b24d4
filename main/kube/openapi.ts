import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import type { Client } from '../../core/client/index.ts';
import { ContractError, say } from '../../core/contract/index.ts';
import { kubeFailure } from './failure.ts';

const GROUP_VERSION_PATH = /^(?:api\/v\w+|apis\/[a-z0-9.-]+\/v\w+)$/;
/** Group versions of one large cluster with many CRDs. */
const DOCUMENTS_MAX = 256;

type Json = Record<string, unknown>;
interface Kept {
  readonly url: string;
  readonly schemas: Json;
}

/** Schemas by cluster and group version, read again only when the server's hash of them has changed. */
export class OpenApiCache {
  readonly #kept = new Map<string, Kept>();

  async schemas(cluster: string, client: Client, path: string, signal: AbortSignal): Promise<Json> {
    if (!GROUP_VERSION_PATH.test(path))
      throw new ContractError('BadRequest', say('failure.notGroupVersion', { path }));
    try {
      const index = await client.json<Json>({ method: 'GET', path: '/openapi/v3', signal });
      const paths = isJsonObject(index['paths']) ? index['paths'] : {};
      const entry = isJsonObject(paths[path]) ? paths[path] : undefined;
      if (!entry) throw new ContractError('NotFound', say('failure.noSchemas', { path }));
      const url = typeof entry['serverRelativeURL'] === 'string' ? entry['serverRelativeURL'] : '';
      const key = `${cluster}\n${path}`;
      const known = this.#kept.get(key);
      if (known && known.url === url) return known.schemas;
      const schemas = await this.#read(client, path, url, signal);
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size < DOCUMENTS_MAX) break;
        this.#kept.delete(oldest);
      }
      this.#kept.set(key, { url, schemas });
      return schemas;
    } catch (error) {
      throw kubeFailure(error);
    }
  }

  async #read(client: Client, path: string, url: string, signal: AbortSignal): Promise<Json> {
    const hash = new URLSearchParams(url.split('?')[1] ?? '').get('hash') ?? '';
    const document = await client.json<Json>({
      method: 'GET',
      path: `/openapi/v3/${path}`,
      query: { hash },
      signal,
    });
    const components = isJsonObject(document['components']) ? document['components'] : {};
    return isJsonObject(components['schemas']) ? components['schemas'] : {};
  }
}
