import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { exponentialBuckets, type Histogram, type Registry } from '../../base/metrics/index.ts';
import type { MemberApi } from '../rpc/index.ts';

const MS_PER_SECOND = 1000;
const FAILURES_MAX = 16;

/** Measures the calls that take long or matter to operators, under etcd's names and in its buckets. */
export const measuredApi = (api: MemberApi, registry: Registry, clock: Clock): MemberApi => {
  const histogram = (name: string, help: string, from: number, count: number): Histogram =>
    registry.histogram({ name, help, buckets: exponentialBuckets(from, 2, count) });
  const defrag = histogram(
    'etcd_disk_backend_defrag_duration_seconds',
    'The latency distribution of backend defragmentation.',
    0.1,
    13,
  );
  const defragging = registry.gauge({
    name: 'etcd_disk_defrag_inflight',
    help: 'Whether or not defrag is active on the member. 1 means active, 0 means not.',
  });
  const snapshot = histogram(
    'etcd_disk_backend_snapshot_duration_seconds',
    'The latency distribution of backend snapshots.',
    0.01,
    17,
  );
  const hash = histogram(
    'etcd_mvcc_hash_duration_seconds',
    'The latency distribution of storage hash operation.',
    0.01,
    15,
  );
  const hashRevision = histogram(
    'etcd_mvcc_hash_rev_duration_seconds',
    'The latency distribution of storage hash by revision operation.',
    0.01,
    15,
  );
  const ranges = registry.histogramFamily({
    name: 'etcd_server_range_duration_seconds',
    help: 'The latency distributions of txn.Range',
    labels: ['success'] as const,
    buckets: exponentialBuckets(0.0001, 2, 20),
  });
  const [rangeOk, rangeFailed] = [ranges.labels('true'), ranges.labels('false')];
  const promoted = registry.counter({
    name: 'etcd_server_learner_promote_successes',
    help: 'The total number of successful learner promotions while this member is leader.',
  });
  const notPromoted = registry.counterFamily({
    name: 'etcd_server_learner_promote_failures',
    help: 'The total number of failed learner promotions (likely learner not ready) while this member is leader.',
    labels: ['Reason'] as const,
    labelSetsMax: FAILURES_MAX,
  });
  const timed = async <T>(to: Histogram, run: () => Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs();
    try {
      return await run();
    } finally {
      to.observe((clock.monotonicMs() - startMs) / MS_PER_SECOND);
    }
  };
  return {
    ...api,
    range(request, context) {
      const startMs = clock.monotonicMs();
      const took = (): number => (clock.monotonicMs() - startMs) / MS_PER_SECOND;
      const answer = api.range(request, context);
      // Beside the answer, not in its way: most calls are this one.
      answer.then(
        () => rangeOk.observe(took()),
        () => rangeFailed.observe(took()),
      );
      return answer;
    },
    async defragment(context) {
      defragging.set(1);
      try {
        await timed(defrag, () => api.defragment(context));
      } finally {
        defragging.set(0);
      }
    },
    hash: (context) => timed(hash, () => api.hash(context)),
    hashKV: (request, context) => timed(hashRevision, () => api.hashKV(request, context)),
    async snapshot(context) {
      const startMs = clock.monotonicMs();
      const source = await api.snapshot(context);
      async function* chunks(): AsyncGenerator<Uint8Array> {
        try {
          yield* source.chunks;
        } finally {
          snapshot.observe((clock.monotonicMs() - startMs) / MS_PER_SECOND);
        }
      }
      return { ...source, chunks: chunks() };
    },
    async memberPromote(id, context) {
      const isLeader = api.leaderId() === api.memberId;
      try {
        const members = await api.memberPromote(id, context);
        if (isLeader) promoted.inc();
        return members;
      } catch (error) {
        if (isLeader) notPromoted.labels(messageOf(error)).inc();
        throw error;
      }
    },
  };
};
