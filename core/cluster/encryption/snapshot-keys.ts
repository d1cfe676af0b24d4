import type { Clock } from '../../base/clock.ts';
import { saidOf, say, SaidError } from '../../contract/index.ts';
import { KeyValue } from '../../etcd/proto/index.ts';
import { readSnapshot } from '../../etcd/snapshot/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { withStoredValues } from './stored-values.ts';

const REGISTRY = '/registry/';
/** `k8s:enc:secretbox:v1:key-1:`, which names provider and key. */
const PREFIX = /^k8s:enc:[^:]*:v\d+:[^:]{0,256}:/;
const HEAD_BYTES = 320;
/** Different keys in one snapshot; after so many the rest is not looked at. */
const PREFIXES_MAX = 64;

/**
 * Fails where a snapshot holds values that the API servers of this cluster could not read, because their key was rotated
 * away since. One value of each key is tried.
 */
export const assertReadable = async (
  file: string,
  cluster: { readonly data: string; readonly config: ClusterConfig; readonly clock: Clock },
): Promise<void> => {
  const samples = new Map<string, { readonly key: string; readonly value: Uint8Array }>();
  const snapshot = await readSnapshot(file);
  try {
    for await (const { value: row } of snapshot.entries('key')) {
      if (!row.includes('k8s:enc:')) continue;
      const { key, value } = KeyValue.decode(row);
      const head = Buffer.from(value.subarray(0, HEAD_BYTES)).toString('latin1');
      const prefix = PREFIX.exec(head)?.[0];
      const name = Buffer.from(key).toString();
      if (prefix === undefined || !name.startsWith(REGISTRY) || samples.size >= PREFIXES_MAX) continue;
      samples.set(`${name.split('/')[2]} ${prefix}`, { key: name, value: Uint8Array.from(value) });
    }
  } finally {
    await snapshot.close();
  }
  if (samples.size === 0) return;
  await withStoredValues(cluster, async (values) => {
    for (const { key, value } of samples.values())
      await values.plain(key, value).catch((cause: unknown) => {
        throw new SaidError('Unreadable', say('encryption.snapshotKey', { why: saidOf(cause) }), { cause });
      });
  });
};
