import { hasReason } from '../../base/errors.ts';
import {
  internalError,
  isExpired,
  isStatusError,
  methodNotSupported,
  resourceExpired,
  type KubernetesObject,
  type StatusError,
} from '../../api/meta/index.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { eventFor, selectionOf, type Selection } from '../registry/generic/selection.ts';
import type { CacheWatcher, WatcherEnd } from '../storage/watch-cache/watcher.ts';
import type { WatchItem } from '../storage/watch-cache/cached-object.ts';
import { encodeJson } from './encode.ts';
import type { Handler, HandlerCall } from './handler-call.ts';
import { queryOptionsOf, watchOptionsOf, type QueryOptions } from './list-options.ts';
import { onAbort } from './on-abort.ts';
import { negotiateOutput, negotiateStream, type OutputForm } from './negotiate-output.ts';
import { tableFormOf } from './respond.ts';
import { openSink, type WatchSink } from './watch-sink.ts';
import { eventLine, metadataWriter, objectWriter, tableWriter, type EventWriter } from './watch-events.ts';

/** Events taken from the cache at a time and sent in one write. */
const BATCH_EVENTS_MAX = 128;
const SECOND_MS = 1000;
/** The longest that a timer of Node can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const writerOf = (call: HandlerCall, form: OutputForm): EventWriter => {
  const { endpoint } = call;
  if (form.view === 'object') return objectWriter(endpoint);
  if (form.view !== 'table') return metadataWriter(endpoint, form.metaVersion);
  const table = tableFormOf(call, form);
  return tableWriter(endpoint, () => ({ ...table, nowMs: call.services.clock.nowMs() }));
};

/** Watches time out so that clients rebalance over the servers; at random, so that they do not reconnect together. */
const timeoutMsOf = ({ services }: HandlerCall, { timeoutSeconds }: QueryOptions): number => {
  if (timeoutSeconds !== undefined && timeoutSeconds > 0) return timeoutSeconds * SECOND_MS;
  return services.watchTimeoutMinMs * (1 + services.random.next());
};

/** What an end is told as, inside a stream that has begun; undefined where there is nothing to tell. */
const failureOf = (end: WatcherEnd | undefined): StatusError | undefined => {
  // A watcher that was too slow is only cut off: it comes back with the last version it saw.
  if (end === undefined || typeof end === 'string') return undefined;
  return end.reason === 'Expired' ? resourceExpired(end.message) : internalError(end.message, end);
};

const errorLine = (error: StatusError): Uint8Array =>
  eventLine('ERROR', encodeJson(error.status as unknown as KubernetesObject));

export const handleWatch: Handler = async (call) => {
  const { context, endpoint, scope, name, timer } = call;
  const { storage } = endpoint;
  const { group, resource } = endpoint.resource;
  if (!storage.watch) throw methodNotSupported({ group, resource }, 'watch');
  negotiateOutput(context.request);
  const form = negotiateStream(context.request);
  const options = queryOptionsOf(context.request.query, endpoint, {
    name,
    isWatch: true,
    gates: call.services.gates,
  });
  const writer = writerOf(call, form);
  timer.enter('storage');
  let watcher: CacheWatcher<KubernetesObject>;
  try {
    watcher = await storage.watch(scope, watchOptionsOf(options));
  } catch (error) {
    // As upstream: a version that is too old is found out in the stream, where clients look for it.
    if (!isStatusError(error) || !isExpired(error)) throw error;
    const sink = await openSink(context);
    await sink.send([errorLine(error)]);
    await sink.end();
    return;
  }
  timer.enter('conversion');
  const ending = endOnSignals(call, watcher, timeoutMsOf(call, options));
  let sink: WatchSink | undefined;
  try {
    sink = await openSink(context);
    timer.enter('streaming');
    await stream(call, { watcher, writer, options, sink });
  } catch (error) {
    if (!hasReason(error, 'ClientGone')) throw error;
  } finally {
    ending.dispose();
    watcher.dispose();
  }
  await sink?.end();
};

/** The client is gone, the server stops, or the time is over: the watch is over as well. */
const endOnSignals = (
  { context, services }: HandlerCall,
  watcher: CacheWatcher<KubernetesObject>,
  timeoutMs: number,
): DisposableStore => {
  const store = new DisposableStore();
  const end = (): void => watcher.dispose();
  for (const signal of [context.request.signal, context.request.draining]) {
    store.add(onAbort(signal, end));
  }
  const timer = services.clock.after(Math.min(timeoutMs, TIMER_MS_MAX), end);
  store.defer(() => timer.dispose());
  return store;
};

interface Streaming {
  readonly watcher: CacheWatcher<KubernetesObject>;
  readonly writer: EventWriter;
  readonly options: QueryOptions;
  readonly sink: WatchSink;
}

const objectsOf = (
  items: readonly WatchItem<KubernetesObject>[],
  selection: Selection,
): readonly KubernetesObject[] =>
  items.flatMap((item) => {
    const seen = item.type === 'BOOKMARK' ? undefined : eventFor(selection, item);
    return seen ? [seen.held.object] : [];
  });

/** Waits for the client to take what it was sent before it takes more: the cache ends who falls too far behind. */
const stream = async (call: HandlerCall, { watcher, writer, options, sink }: Streaming): Promise<void> => {
  const selection = selectionOf(call.endpoint.fieldsOf, options);
  const meter = call.services.metrics.watchOf(call.endpoint.resource);
  const lineOf = (item: WatchItem<KubernetesObject>): Uint8Array | undefined => {
    if (item.type === 'BOOKMARK') return writer.bookmark(item);
    const seen = eventFor(selection, item);
    return seen && writer.event(item, seen);
  };
  for (
    let items = await watcher.next(BATCH_EVENTS_MAX);
    items;
    items = await watcher.next(BATCH_EVENTS_MAX)
  ) {
    await call.endpoint.prepare?.(objectsOf(items, selection));
    const lines: Uint8Array[] = [];
    for (const item of items) {
      const line = lineOf(item);
      if (line === undefined) continue;
      meter.sent(line.byteLength);
      lines.push(line);
    }
    if (lines.length === 0) continue;
    await sink.send(lines);
  }
  const failure = failureOf(watcher.end);
  if (failure) await sink.send([errorLine(failure)]);
};
