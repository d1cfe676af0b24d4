import { assert } from '../../base/assert.ts';
import type { GroupResource, KubernetesObject } from '../../api/meta/index.ts';
import type { ObjectReader, QuotaWriter } from '../storage/object-reader.ts';
import { StorageError } from '../storage/errors.ts';
import type { GenericStore } from './generic/generic-store.ts';
import { mutate } from './generic/mutate.ts';
import { fromStorage } from './generic/storage-errors.ts';
import { scopeIn, type Scope } from './rest-storage.ts';

/** Reads for the server's own use: from the watch caches, or from etcd where it must be certain. */
export const createObjectReader = (
  find: (resource: GroupResource) => GenericStore | undefined,
): ObjectReader => {
  const storeOf = (resource: GroupResource): GenericStore => {
    const store = find(resource);
    assert(store !== undefined, `${resource.resource} are not kept`);
    return store;
  };
  return {
    async get(resource, namespace, name, { live = false } = {}): Promise<KubernetesObject | undefined> {
      if (name === '') return undefined;
      const { core, reads } = storeOf(resource);
      const key = core.key(namespace, name);
      try {
        const held = live ? reads.heldOf(await core.store.get(key)) : await core.cache.get(key, 'any');
        return held.object;
      } catch (error) {
        if (error instanceof StorageError && error.reason === 'NotFound') return undefined;
        throw fromStorage(error, 'get', core.resource, name);
      }
    },
    async list(resource, namespace): Promise<readonly KubernetesObject[]> {
      const { core } = storeOf(resource);
      try {
        const { objects } = await core.cache.list(core.prefix(namespace), { at: 'any' });
        return objects.map(({ object }) => object);
      } catch (error) {
        throw fromStorage(error, 'list', core.resource);
      }
    },
  };
};

/** Charges usage to a quota: refused with a Conflict when the quota changed since it was read. */
export const createQuotaWriter = (quotas: GenericStore, scope: Scope): QuotaWriter => ({
  async updateStatus(quota) {
    const { namespace = '', name = '', uid, resourceVersion } = quota.metadata ?? {};
    const held = await mutate(quotas, scopeIn(scope, namespace), name, {
      dryRun: false,
      preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      change(draft) {
        draft['status'] = quota['status'];
      },
    });
    return held.object;
  },
});
