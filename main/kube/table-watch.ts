import type { Clock } from '../../core/base/clock.ts';
import type { Random } from '../../core/base/random.ts';
import { pause, type Client } from '../../core/client/index.ts';
import type { TableItem, TableQuery } from '../../core/contract/index.ts';
import { kubeFailure } from './failure.ts';
import { LiveList } from './live-list.ts';
import { resourcePath } from './resource-path.ts';
import { RowChanges } from './row-changes.ts';
import { readPage, TABLE_ACCEPT } from './table-rows.ts';

/** Between two bursts of changes: ten a second are as many as a person can follow. */
export const BURST_INTERVAL_MS = 100;

export interface WatchSurroundings {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
}

/** Rows, then bursts of what changed, until the signal is aborted. */
export async function* watchTable(
  query: TableQuery,
  { client, clock, random }: WatchSurroundings,
  outer: AbortSignal,
): AsyncGenerator<TableItem[], void, void> {
  const changes = new RowChanges();
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  let listed = new Set<string>();
  const whole = new AbortController();
  let isWholeTold = false;
  let failure: unknown;
  const list = new LiveList({
    client,
    clock,
    random,
    path: resourcePath(query.resource, query.namespace),
    query: {
      labelSelector: query.labelSelector,
      fieldSelector: query.fieldSelector,
      includeObject: 'Metadata',
    },
    accept: TABLE_ACCEPT,
    signal,
    sink: {
      onListing() {
        listed = new Set();
      },
      onPage(answer) {
        const page = readPage(answer);
        if (page.columns) changes.setColumns(page.columns);
        for (const versioned of page.rows) {
          listed.add(versioned.row.key);
          changes.put(versioned);
        }
        return page;
      },
      onListed() {
        changes.keepOnly(listed);
        listed = new Set();
        whole.abort();
      },
      onEvent({ type, object }) {
        const page = readPage(object);
        if (page.columns) changes.setColumns(page.columns);
        for (const versioned of type === 'BOOKMARK' ? [] : page.rows) {
          if (type === 'DELETED') changes.remove(versioned.row.key);
          else changes.put(versioned);
        }
        return page.rows[0]?.resourceVersion || page.resourceVersion;
      },
      onHealth: (health) => changes.setHealth(health),
    },
  });
  const running = list.run().then(
    () => stop.abort(),
    (error: unknown) => {
      failure = error;
      stop.abort();
    },
  );
  try {
    while (!signal.aborted) {
      await changes.whenChanged(signal);
      if (signal.aborted) break;
      const items = changes.take();
      yield items;
      isWholeTold ||= items.some(({ kind }) => kind === 'listed');
      // Somebody waits for the first rows, and for the end of the first list: neither has to wait for a burst.
      if (!items.some(({ kind }) => kind === 'rows' || kind === 'gone')) continue;
      const calm = isWholeTold ? signal : AbortSignal.any([signal, whole.signal]);
      await pause(clock, BURST_INTERVAL_MS, calm).catch(() => undefined);
    }
    await running;
    if (failure !== undefined && !outer.aborted) throw kubeFailure(failure);
  } finally {
    stop.abort();
  }
}
