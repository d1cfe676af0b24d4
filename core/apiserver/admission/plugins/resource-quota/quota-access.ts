import type { KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1ResourceQuota } from '../../../../api/schema/index.ts';
import type { ObjectReader, QuotaWriter } from '../../../storage/object-reader.ts';

const QUOTAS = { group: '', resource: 'resourcequotas' };
/** Upstream's bound on quotas that are remembered because they were written here. */
const WRITTEN_MAX = 100;

const revisionOf = (object: KubernetesObject): bigint => BigInt(object.metadata?.resourceVersion || '0');

export interface QuotaAccess {
  quotasOf(namespace: string): Promise<readonly V1ResourceQuota[]>;
  /** As etcd has them, of those that still exist. */
  live(namespace: string, names: readonly string[]): Promise<readonly V1ResourceQuota[]>;
  write(quota: V1ResourceQuota): Promise<void>;
}

/** The cache is behind this server's own writes: the newer of what it holds and what was written here counts. */
export const quotaAccess = (reader: ObjectReader, writer: QuotaWriter): QuotaAccess => {
  const written = new Map<string, KubernetesObject>();
  const keyOf = ({ metadata }: KubernetesObject): string =>
    `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  const newest = (cached: KubernetesObject): KubernetesObject => {
    const own = written.get(keyOf(cached));
    if (!own || own.metadata?.uid !== cached.metadata?.uid) return cached;
    if (revisionOf(own) > revisionOf(cached)) return own;
    written.delete(keyOf(cached));
    return cached;
  };
  return {
    async quotasOf(namespace) {
      return (await reader.list(QUOTAS, namespace)).map(newest) as V1ResourceQuota[];
    },
    async live(namespace, names) {
      const found = await Promise.all(
        names.map((name) => reader.get(QUOTAS, namespace, name, { live: true })),
      );
      return found.filter((quota) => quota !== undefined) as V1ResourceQuota[];
    },
    async write(quota) {
      const updated = await writer.updateStatus(quota as KubernetesObject);
      const key = keyOf(updated);
      written.delete(key);
      written.set(key, updated);
      const oldest = written.keys().next();
      if (written.size > WRITTEN_MAX && !oldest.done) written.delete(oldest.value);
    },
  };
};
