import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { objectKey, type KubernetesObject } from '../../api/meta/object-meta.ts';
import { hasStatusReason, isExpired, isStatusError } from '../../api/meta/status.ts';
import type { ResourceClient, Selectors, WatchEvent, WatchStream } from '../client.ts';
import type { Stored } from '../kind.ts';
import { isFenced } from '../rest/errors.ts';
import { pause } from '../rest/pause.ts';
import { TransportError } from '../rest/transport.ts';
import { isInitialEventsEnd } from '../rest/watch-stream.ts';
import { Backoff } from './backoff.ts';
import type { InformerPhase } from './informer.ts';
import { listObjects } from './list-objects.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import { isOlder } from './resource-version.ts';

const WATCH_SECONDS_MIN = 300;
/** Beyond the time that the server was asked to end a watch at, it is taken for dead. */
const OVERDUE_MS = 30_000;
/** A server that does not know initial events streams objects and never says that they were all. */
const INITIAL_EVENTS_QUIET_MS = 20_000;
const SHORT_WATCH_MS = 1000;

/** Where a reflector brings what it learns. Every call is synchronous and in the order of the server. */
export interface ReflectorSink<T extends KubernetesObject> {
  /** The complete state as of a version. */
  replace(items: readonly Stored<T>[], resourceVersion: string): void;
  change(event: WatchEvent<T>, resourceVersion: string): void;
  contact(resourceVersion: string): void;
  phase(phase: InformerPhase, error?: string): void;
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly resource: ResourceClient<T>;
  readonly selectors: Selectors;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sink: ReflectorSink<T>;
  readonly metrics?: ReflectorMetrics | undefined;
}

/** The server's history is behind what was seen: it was restored from a backup. */
class HistoryRewound extends Error {
  override readonly name = 'HistoryRewound';
}

/** Keeps a sink equal to a resource on the server: lists once, then watches, and lists again only when it must. */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  #initialEvents = true;
  #version = '';
  /** The version that the next list is asked for; undefined while watching can continue. */
  #listFrom: string | undefined = '0';

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock, options.random);
  }

  /** Until `signal` is aborted, or the client's leadership is over and nothing will be answered; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { sink, clock } = this.#options;
    while (!signal.aborted) {
      let delayMs: number | undefined;
      try {
        const isLong = await this.#round(signal);
        if (!isLong) delayMs = this.#backoff.next();
        if (delayMs !== undefined) sink.phase('waiting');
      } catch (error) {
        if (signal.aborted || isFenced(error)) break;
        delayMs = this.#afterFailure(error);
      }
      if (delayMs !== undefined) await pause(clock, delayMs, signal).catch(() => undefined);
    }
    sink.phase('stopped');
  }

  /** Lists if need be and watches until the server ends it; false when that was suspiciously soon. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const { clock, metrics } = this.#options;
    let stream: WatchStream<T> | undefined;
    const watching = new AbortController();
    const onAbort = (): void => watching.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (this.#listFrom !== undefined) stream = await this.#list(watching);
      const startedMs = clock.monotonicMs();
      if (stream) await this.#follow(stream[Symbol.asyncIterator](), watching);
      else await this.#watch(watching);
      if (clock.monotonicMs() - startedMs >= SHORT_WATCH_MS) return true;
      metrics?.shortWatches.inc();
      return false;
    } finally {
      signal.removeEventListener('abort', onAbort);
      stream?.dispose();
    }
  }

  async #list(watching: AbortController): Promise<WatchStream<T> | undefined> {
    const { resource, selectors, sink, metrics } = this.#options;
    sink.phase('listing');
    metrics?.lists.inc();
    if (this.#initialEvents) {
      const stream = await this.#listByWatch(watching);
      if (stream) return stream;
    }
    const signal = watching.signal;
    const listed = await listObjects(resource, {
      ...selectors,
      resourceVersion: this.#listFrom ?? '',
      signal,
    });
    this.#replace(listed.items, listed.resourceVersion);
    return undefined;
  }

  /** Objects first, then changes, on one stream; undefined when the server does not offer it. */
  async #listByWatch(watching: AbortController): Promise<WatchStream<T> | undefined> {
    const from = this.#listFrom === '0' ? '' : (this.#listFrom ?? '');
    let stream: WatchStream<T>;
    try {
      stream = await this.#open(watching, {
        resourceVersion: from,
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: true,
      });
    } catch (error) {
      if (!hasStatusReason(error, 'Invalid', 'BadRequest', 'MethodNotAllowed')) throw error;
      this.#initialEvents = false;
      return undefined;
    }
    const events = stream[Symbol.asyncIterator]();
    const initial = await this.#initialState(events, stream);
    if (!initial) {
      this.#options.log.write('info', 'the server does not support WatchList; listing instead');
      this.#initialEvents = false;
      return undefined;
    }
    this.#replace(initial.items, initial.resourceVersion);
    return { dispose: () => stream.dispose(), [Symbol.asyncIterator]: () => events };
  }

  async #initialState(
    events: AsyncIterator<WatchEvent<T>>,
    stream: WatchStream<T>,
  ): Promise<{ items: Stored<T>[]; resourceVersion: string } | undefined> {
    const { clock } = this.#options;
    const items = new Map<string, Stored<T>>();
    let quiet = false;
    const arm = () =>
      clock.after(INITIAL_EVENTS_QUIET_MS, () => {
        quiet = true;
        stream.dispose();
      });
    let timer = arm();
    try {
      for (;;) {
        const next = await events.next();
        if (next.done) {
          if (quiet) return undefined;
          throw new TransportError('ConnectionLost', 'a watch ended before its initial events did', {
            maybeProcessed: true,
          });
        }
        timer.dispose();
        timer = arm();
        const { type, object } = next.value;
        if (isInitialEventsEnd(next.value))
          return { items: [...items.values()], resourceVersion: object.metadata.resourceVersion };
        if (type === 'DELETED') items.delete(objectKey(object));
        else if (type !== 'BOOKMARK') items.set(objectKey(object), object);
      }
    } catch (error) {
      stream.dispose();
      if (quiet) return undefined;
      throw error;
    } finally {
      timer.dispose();
    }
  }

  async #watch(watching: AbortController): Promise<void> {
    const stream = await this.#open(watching, { resourceVersion: this.#version });
    await this.#follow(stream[Symbol.asyncIterator](), watching);
  }

  /** Opens a watch that ends at a random time, and is ended from here when the server does not. */
  async #open(
    watching: AbortController,
    options: {
      readonly resourceVersion: string;
      readonly resourceVersionMatch?: 'NotOlderThan';
      readonly sendInitialEvents?: boolean;
    },
  ): Promise<WatchStream<T>> {
    const { resource, selectors, clock, random, metrics } = this.#options;
    const timeoutSeconds = Math.floor(WATCH_SECONDS_MIN * (1 + random.next()));
    metrics?.watches.inc();
    const stream = await resource.watch({
      ...selectors,
      ...options,
      allowWatchBookmarks: true,
      timeoutSeconds,
      signal: watching.signal,
    });
    const overdue = clock.after(timeoutSeconds * 1000 + OVERDUE_MS, () =>
      watching.abort(
        new TransportError('TimedOut', 'the server did not end a watch in time', { maybeProcessed: true }),
      ),
    );
    // The end may have come while the answer was in progress, and no one reads the stream then.
    if (watching.signal.aborted) overdue.dispose();
    else watching.signal.addEventListener('abort', () => overdue.dispose(), { once: true });
    return {
      dispose() {
        overdue.dispose();
        stream.dispose();
      },
      async *[Symbol.asyncIterator]() {
        try {
          yield* stream;
        } finally {
          overdue.dispose();
        }
      },
    };
  }

  async #follow(events: AsyncIterator<WatchEvent<T>>, watching: AbortController): Promise<void> {
    this.#options.sink.phase('watching');
    try {
      for (let next = await events.next(); !next.done; next = await events.next()) {
        if (watching.signal.aborted) throw watching.signal.reason;
        this.#accept(next.value);
      }
    } finally {
      await events.return?.(undefined);
    }
  }

  #accept(event: WatchEvent<T>): void {
    const { sink, metrics } = this.#options;
    const version = event.object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK' && isOlder(version, this.#version))
      throw new HistoryRewound(`a bookmark says ${version} after ${this.#version} was seen`);
    if (!isOlder(version, this.#version)) this.#version = version;
    metrics?.resourceVersion.set(Number(this.#version));
    if (event.type === 'BOOKMARK') sink.contact(this.#version);
    else sink.change(event, this.#version);
  }

  #replace(items: readonly Stored<T>[], resourceVersion: string): void {
    this.#version = resourceVersion;
    this.#listFrom = undefined;
    this.#options.metrics?.resourceVersion.set(Number(resourceVersion));
    this.#options.sink.replace(items, resourceVersion);
  }

  /** Decides what the next round begins with, and how long to wait for it. */
  #afterFailure(error: unknown): number | undefined {
    const { sink, log, resource } = this.#options;
    const wasWatching = this.#listFrom === undefined;
    if (isExpired(error) || error instanceof HistoryRewound || isTooLargeVersion(error)) this.#listFrom = '';
    else if (wasWatching && isStatusError(error) && !isPassing(error)) this.#listFrom = this.#version;
    sink.phase('waiting', messageOf(error));
    // The first 410 of a watch is the ordinary way to learn that its version is gone; a second one waits.
    if (wasWatching && isExpired(error)) return undefined;
    const delayMs = this.#backoff.next();
    log.write('warn', 'list or watch failed; retrying', {
      resource: resource.kind.plural,
      error: messageOf(error),
      delayMs: Math.round(delayMs),
    });
    return delayMs;
  }
}

/** The server is busy or on its way: the version that was reached is still good. */
const isPassing = (error: unknown): boolean =>
  hasStatusReason(
    error,
    'TooManyRequests',
    'InternalError',
    'ServiceUnavailable',
    'Timeout',
    'ServerTimeout',
  ) ||
  (isStatusError(error) && error.code >= 500);

const isTooLargeVersion = (error: unknown): boolean =>
  isStatusError(error) &&
  (error.details?.causes ?? []).some(({ reason }) => reason === 'ResourceVersionTooLarge');
