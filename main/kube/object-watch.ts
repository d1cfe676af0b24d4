import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import { pause } from '../../core/client/index.ts';
import type { ObjectItem, ObjectRef, WatchHealth } from '../../core/contract/index.ts';
import { kubeFailure } from './failure.ts';
import { LiveList } from './live-list.ts';
import { resourcePath } from './resource-path.ts';
import { BURST_INTERVAL_MS, type WatchSurroundings } from './table-watch.ts';

type Json = Record<string, unknown>;

const versionOf = (object: unknown): string => {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : '';
};

const typeOf = (list: Json): Json => {
  const kind = typeof list['kind'] === 'string' ? list['kind'].replace(/List$/, '') : '';
  return { apiVersion: list['apiVersion'], kind };
};

/** The object now and after every change; the newest state only, when it changes faster than it can be shown. */
export async function* watchObject(
  query: ObjectRef,
  { client, clock, random }: WatchSurroundings,
  outer: AbortSignal,
): AsyncGenerator<ObjectItem[], void, void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  let state: ObjectItem | undefined;
  let health: WatchHealth | undefined;
  let wake = (): void => undefined;
  let isFound = false;
  let failure: unknown;
  signal.addEventListener('abort', () => wake(), { once: true });
  const become = (next: ObjectItem): void => {
    state = next;
    wake();
  };
  const list = new LiveList({
    client,
    clock,
    random,
    path: resourcePath(query.resource, query.namespace),
    query: { fieldSelector: `metadata.name=${query.name}` },
    accept: 'application/json',
    signal,
    sink: {
      onListing() {
        isFound = false;
      },
      onPage(answer) {
        const page = isJsonObject(answer) ? answer : {};
        const [object] = Array.isArray(page['items']) ? (page['items'] as unknown[]) : [];
        if (isJsonObject(object)) {
          isFound = true;
          // Items of a list leave out what the list already says.
          become({ kind: 'object', object: { ...typeOf(page), ...object } });
        }
        const metadata = isJsonObject(page['metadata']) ? page['metadata'] : {};
        const next = metadata['continue'];
        return { resourceVersion: versionOf(page), next: typeof next === 'string' ? next : '' };
      },
      onListed() {
        if (!isFound) become({ kind: 'gone' });
      },
      onEvent({ type, object }) {
        if (type === 'DELETED') become({ kind: 'gone' });
        else if (type !== 'BOOKMARK' && isJsonObject(object)) become({ kind: 'object', object });
        return versionOf(object);
      },
      onHealth(next) {
        health = next;
        wake();
      },
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
      if (!state && !health) await new Promise<void>((resolve) => (wake = resolve));
      if (signal.aborted) break;
      const items: ObjectItem[] = [
        ...(state ? [state] : []),
        ...(health ? [{ kind: 'health', health } as const] : []),
      ];
      state = undefined;
      health = undefined;
      yield items;
      await pause(clock, BURST_INTERVAL_MS, signal).catch(() => undefined);
    }
    await running;
    if (failure !== undefined && !outer.aborted) throw kubeFailure(failure);
  } finally {
    stop.abort();
  }
}
