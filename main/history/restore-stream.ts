import type { Clock } from '../../core/base/clock.ts';
import { restoreObjects, type Decoder, type Source } from '../../core/cluster/history/index.ts';
import {
  RESTORED_TOLD_MAX,
  type Moment,
  type RestoredObject,
  type RestoreReport,
  type RestoreStep,
  type StreamHandler,
} from '../../core/contract/index.ts';
import { guarded } from '../clusters/failure.ts';
import type { Connections } from '../kube/connections.ts';
import { Feed } from '../state/feed.ts';

const TOLD_EVERY_MS = 200;
/** What a slow page has not taken is replaced by what came since. */
const WAITING_MAX = 2;

const noCounts = (): RestoreReport['counts'] => ({
  created: 0,
  replaced: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
});

/** Failures first, then what was written; unchanged objects are only counted. */
const reportOf = (restored: readonly RestoredObject[], counts: RestoreReport['counts']): RestoreReport => {
  const isSingle = restored.length === 1;
  const order = ['failed', 'replaced', 'created', 'skipped', 'unchanged'] as const;
  return {
    counts,
    objects: restored
      .filter(({ outcome }) => isSingle || outcome !== 'unchanged')
      .sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))
      .slice(0, RESTORED_TOLD_MAX)
      .map((one) => (isSingle ? one : { ...one, live: null, result: null })),
  };
};

export interface RestoreDependencies {
  readonly clock: Clock;
  readonly connections: Pick<Connections, 'open' | 'openForWriting'>;
  at<T>(cluster: string, moment: Moment, run: (source: Source) => Promise<T>): Promise<T>;
  withDecoder<T>(cluster: string, run: (decoder: Decoder) => Promise<T>): Promise<T>;
}

/** A restore that says how far it has come, and stops before the next object when the page closes it. */
export const createRestore = ({
  clock,
  connections,
  at,
  withDecoder,
}: RestoreDependencies): StreamHandler<'history.restore'> => {
  const run = (
    { cluster, at: moment, selection, dryRun }: Parameters<StreamHandler<'history.restore'>>[0],
    signal: AbortSignal,
    tell: (step: RestoreStep) => void,
  ): Promise<void> =>
    guarded(async () => {
      const connection = await (dryRun ? connections.open : connections.openForWriting)(cluster);
      const resources = async (isFresh: boolean) => (await connection.discovery(isFresh)).resources;
      const isSingle = selection.kind === 'objects' && selection.keys.length === 1;
      await at(cluster, moment, (source) =>
        withDecoder(cluster, async (decoder) => {
          const counts = noCounts();
          const restored: RestoredObject[] = [];
          let total = 0;
          let toldMs = clock.monotonicMs();
          const onChosen = (count: number): void => {
            total = count;
            tell({ total, counts: { ...counts }, report: null });
          };
          const options = { client: connection.client, resources, source, decoder, dryRun, onChosen, signal };
          for await (const one of restoreObjects(selection, options)) {
            restored.push(isSingle ? one : { ...one, live: null, result: null });
            counts[one.outcome] += 1;
            if (clock.monotonicMs() - toldMs < TOLD_EVERY_MS) continue;
            toldMs = clock.monotonicMs();
            tell({ total, counts: { ...counts }, report: null });
          }
          tell({ total, counts: { ...counts }, report: reportOf(restored, counts) });
        }),
      );
    });

  return async function* (request, signal) {
    const steps = new Feed<RestoreStep>({ listenerItemsMax: WAITING_MAX });
    const told = steps.listen(signal);
    const first = told.next();
    const work = run(request, signal, (step) => steps.publish(step)).finally(() => steps.close());
    // Told below; an end that comes before is no unhandled one.
    work.catch(() => undefined);
    for (let batch = await first; !batch.done; batch = await told.next()) yield batch.value;
    await work;
  };
};
