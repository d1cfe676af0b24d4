import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { hasReason, messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { EtcdClient } from './client.ts';
import { METHOD } from './methods.ts';
import { COMPARE_RESULT, COMPARE_TARGET } from '../../../etcd/proto/index.ts';

export const COMPACTION_INTERVAL_MS_DEFAULT = 5 * 60 * 1000;
/** Upstream's key: API servers of both kinds take turns on the same cluster. */
const COMPACT_KEY = Buffer.from('compact_rev_key');

export interface CompactorOptions {
  readonly client: EtcdClient;
  readonly clock: Clock;
  readonly log: Log;
  /** `--etcd-compaction-interval` */
  readonly intervalMs?: number | undefined;
  readonly onCompacted?: ((revision: number) => void) | undefined;
}

interface Turn {
  /** The version of the key as this server last saw it. */
  readonly time: number;
  readonly revision: number;
}

/**
 * One turn: only the server that moves the key from the version it saw an interval ago compacts, at the revision
 * it saw then. So of many servers one compacts, and history of at least one interval is kept.
 */
export const compactOnce = async (
  client: EtcdClient,
  seen: Turn,
): Promise<Turn & { readonly compacted: boolean }> => {
  const answer = await client.call(METHOD.txn, {
    compare: [
      {
        key: COMPACT_KEY,
        target: COMPARE_TARGET.VERSION,
        result: COMPARE_RESULT.EQUAL,
        version: seen.time,
      },
    ],
    success: [{ requestPut: { key: COMPACT_KEY, value: Buffer.from(String(seen.revision)) } }],
    failure: [{ requestRange: { key: COMPACT_KEY } }],
  });
  const revision = answer.header?.revision ?? 0;
  if (!answer.succeeded) {
    const time = answer.responses[0]?.responseRange?.kvs[0]?.version ?? 0;
    return { time, revision, compacted: false };
  }
  const next = { time: seen.time + 1, revision };
  if (seen.revision === 0) return { ...next, compacted: false };
  try {
    await client.call(METHOD.compact, { revision: seen.revision });
  } catch (error) {
    // Another one was there before us; what we wanted is the case.
    if (!hasReason(error, 'Compacted')) throw error;
  }
  return { ...next, compacted: true };
};

/** Compacts every interval until disposed. A turn that fails is made again at the next interval. */
export const startCompactor = (options: CompactorOptions): Disposable => {
  const { client, clock, log } = options;
  const intervalMs = options.intervalMs ?? COMPACTION_INTERVAL_MS_DEFAULT;
  let turn: Turn = { time: 0, revision: 0 };
  let disposed = false;
  let timer: Disposable | undefined;
  const run = async (): Promise<void> => {
    const seen = turn;
    try {
      const { compacted, ...next } = await compactOnce(client, seen);
      turn = next;
      if (compacted) options.onCompacted?.(seen.revision);
    } catch (error) {
      log.write('warn', 'compaction of etcd failed', { error: messageOf(error) });
    }
    schedule();
  };
  const schedule = (): void => {
    if (disposed || intervalMs <= 0) return;
    timer = clock.after(intervalMs, () => void run());
  };
  schedule();
  return {
    dispose() {
      disposed = true;
      timer?.dispose();
    },
  };
};
