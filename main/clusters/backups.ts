import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Backups } from '../../core/contract/index.ts';
import { clusterFailure } from './failure.ts';
import type { HostedCluster } from './hosted-cluster.ts';
import type { OperationBook } from './operations/operation-book.ts';

/** The schedule and other processes put files there too. */
const LOOK_PAUSE_MS = 2_000;

export interface BackupWatchOptions {
  readonly cluster: HostedCluster;
  /** A snapshot that was just saved is shown when its operation says so. */
  readonly operations: OperationBook;
  readonly clock: Clock;
  load(): Promise<{ readBackups(cluster: HostedCluster): Promise<Backups> }>;
}

const pauseUntilChange = (
  { operations, clock, cluster }: BackupWatchOptions,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve) => {
    const opened: Disposable[] = [];
    const go = (): void => {
      for (const { dispose } of opened) dispose();
      signal.removeEventListener('abort', go);
      cluster.gone.removeEventListener('abort', go);
      resolve();
    };
    opened.push(clock.after(LOOK_PAUSE_MS, go), operations.onChange(go));
    signal.addEventListener('abort', go, { once: true });
    cluster.gone.addEventListener('abort', go, { once: true });
  });

/** The snapshots of a cluster now, and again when something about them changes. */
export async function* watchBackups(
  options: BackupWatchOptions,
  signal: AbortSignal,
): AsyncGenerator<Backups[]> {
  const { cluster, load } = options;
  const { readBackups } = await load();
  let told = '';
  while (!signal.aborted && !cluster.gone.aborted) {
    let now: Backups;
    try {
      now = await readBackups(cluster);
    } catch (error) {
      throw clusterFailure(error);
    }
    const text = JSON.stringify(now);
    if (text !== told) yield [now];
    told = text;
    if (!signal.aborted) await pauseUntilChange(options, signal);
  }
}
