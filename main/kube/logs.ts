import type { Clock } from '../../core/base/clock.ts';
import { pause, type Client } from '../../core/client/index.ts';
import { LOG_LINES_PER_ITEM_MAX, type LogQuery } from '../../core/contract/index.ts';
import { kubeFailure } from './failure.ts';
import { resourcePath } from './resource-path.ts';

const POD = { group: '', version: 'v1', plural: 'pods' };
const BURST_INTERVAL_MS = 100;
/** A program that prints faster than it can be shown waits here; beyond it the connection is not read. */
const PENDING_LINES_MAX = 5_000;
const LINE_CHARACTERS_MAX = 16 * 1024;

/** Lines of one container; ends with the container when `follow` is on, at the end of the log otherwise. */
export async function* readLogs(
  query: LogQuery,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  signal: AbortSignal,
): AsyncGenerator<{ lines: string[] }[], void, void> {
  const pending: string[] = [];
  let isOver = false;
  let failure: unknown;
  let wake = (): void => undefined;
  let room = (): void => undefined;
  signal.addEventListener('abort', () => wake(), { once: true });

  const read = async (): Promise<void> => {
    const stream = await client.stream({
      method: 'GET',
      path: `${resourcePath(POD, query.namespace, query.pod)}/log`,
      query: {
        container: query.container,
        follow: query.follow ? true : undefined,
        previous: query.previous ? true : undefined,
        tailLines: query.tailLines,
        sinceSeconds: query.sinceSeconds,
        timestamps: true,
      },
      accept: '*/*',
      signal,
    });
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = (lines.pop() ?? '').slice(0, LINE_CHARACTERS_MAX);
      for (const line of lines) pending.push(line.slice(0, LINE_CHARACTERS_MAX));
      wake();
      while (pending.length > PENDING_LINES_MAX && !signal.aborted)
        await new Promise<void>((resolve) => (room = resolve));
    }
    if (rest !== '') pending.push(rest);
  };

  void read()
    .catch((error: unknown) => (failure = error))
    .finally(() => {
      isOver = true;
      wake();
    });
  try {
    while (!signal.aborted) {
      if (pending.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
      if (signal.aborted) return;
      if (pending.length === 0) break;
      const taken = pending.splice(0);
      room();
      const items: { lines: string[] }[] = [];
      for (let from = 0; from < taken.length; from += LOG_LINES_PER_ITEM_MAX)
        items.push({ lines: taken.slice(from, from + LOG_LINES_PER_ITEM_MAX) });
      yield items;
      await pause(clock, BURST_INTERVAL_MS, signal).catch(() => undefined);
    }
    if (failure !== undefined) throw kubeFailure(failure);
  } finally {
    room();
  }
}
