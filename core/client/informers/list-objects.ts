import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { isExpired } from '../../api/meta/status.ts';
import type { ResourceClient, Selectors } from '../client.ts';
import type { Stored } from '../kind.ts';

/** As client-go's pager. */
const PAGE_ITEMS = 500;

export interface Listed<T extends KubernetesObject> {
  readonly items: readonly Stored<T>[];
  readonly resourceVersion: string;
}

interface ListRequest extends Selectors {
  /** `0` for whatever the server has at hand, empty for the present, else no older than that. */
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
}

/**
 * All objects as of one version. From the server's cache they come in one piece; the present is read in pages,
 * and in one piece when the pages expire on the way.
 */
export const listObjects = async <T extends KubernetesObject>(
  resource: ResourceClient<T>,
  { resourceVersion, ...request }: ListRequest,
): Promise<Listed<T>> => {
  if (resourceVersion !== '') return whole(resource, { ...request, resourceVersion });
  const items: Stored<T>[] = [];
  let page = await resource.list({ ...request, limit: PAGE_ITEMS });
  items.push(...page.items);
  while (page.metadata.continue) {
    try {
      page = await resource.list({ ...request, limit: PAGE_ITEMS, continue: page.metadata.continue });
    } catch (error) {
      if (!isExpired(error)) throw error;
      return whole(resource, request);
    }
    items.push(...page.items);
  }
  return { items, resourceVersion: page.metadata.resourceVersion ?? '' };
};

const whole = async <T extends KubernetesObject>(
  resource: ResourceClient<T>,
  request: Omit<ListRequest, 'resourceVersion'> & { readonly resourceVersion?: string },
): Promise<Listed<T>> => {
  const { items, metadata } = await resource.list(request);
  return { items, resourceVersion: metadata.resourceVersion ?? '' };
};
