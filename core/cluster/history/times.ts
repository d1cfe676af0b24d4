import { isJsonObject } from '../../api/meta/index.ts';
import type { HistorySample } from '../../contract/index.ts';
import { SORT_ORDER, SORT_TARGET } from '../../etcd/proto/index.ts';
import type { EtcdConnection } from '../etcd-operator/connection.ts';
import { OPERATOR } from '../etcd-operator/methods.ts';
import type { Decoder } from './stored-object.ts';

const LEASES = Buffer.from('/registry/leases/');
const LEASES_END = Buffer.from('/registry/leases0');
const SAMPLES = 24;

/**
 * etcd does not know when a revision was written. Components renew Leases every few seconds, and each renewal says when
 * it was: the newest Lease of a revision dates it. Undefined where no Lease was renewed.
 */
export const timeOfRevision = async (
  member: EtcdConnection,
  revision: number,
  decoder: Decoder,
): Promise<number | undefined> => {
  const { kvs } = await member.call(OPERATOR.range, {
    key: LEASES,
    rangeEnd: LEASES_END,
    revision,
    limit: 1,
    sortOrder: SORT_ORDER.DESCEND,
    sortTarget: SORT_TARGET.MOD,
  });
  const [newest] = kvs;
  if (!newest) return undefined;
  const { value, modRevision, createRevision, version } = newest;
  const key = Buffer.from(newest.key).toString();
  const { object } = await decoder.decode({ key, value, modRevision, createRevision, version });
  const spec = (object as { spec?: unknown } | undefined)?.spec;
  const renewed = isJsonObject(spec) ? spec['renewTime'] : undefined;
  const atMs = typeof renewed === 'string' ? Date.parse(renewed) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
};

/** Revisions spread over what etcd still has, each with its time where that is known. */
export const sampleTimes = async (
  member: EtcdConnection,
  { oldest, newest }: { readonly oldest: number; readonly newest: number },
  decoder: Decoder,
): Promise<HistorySample[]> => {
  const count = Math.min(SAMPLES, newest - oldest + 1);
  const revisions = Array.from({ length: count }, (_, at) =>
    count === 1 ? newest : Math.round(oldest + ((newest - oldest) * at) / (count - 1)),
  );
  const samples: HistorySample[] = [];
  for (const revision of revisions) {
    const atMs = await timeOfRevision(member, revision, decoder);
    if (atMs !== undefined) samples.push({ revision, atMs });
  }
  return samples;
};
