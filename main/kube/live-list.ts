import { isExpired, statusErrorFrom, type Status } from '../../core/api/meta/status.ts';
import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { Random } from '../../core/base/random.ts';
import { ClientError, pause, type Client, type Query } from '../../core/client/index.ts';
import { Backoff } from '../../core/client/informers/backoff.ts';
import { parseExactJson, readLines } from '../../core/client/rest/body.ts';
import type { Said, WatchHealth } from '../../core/contract/index.ts';
import { failureSaid, isFinal } from './failure.ts';

const PAGE_ROWS = 500;
/** As client-go: between five and ten minutes, so that not all watches of a console end at the same time. */
const WATCH_SECONDS_MIN = 300;
/** Health alone is told at most this often: events of a busy list move it all the time. */
const HEALTH_INTERVAL_MS = 1000;

export interface WatchedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: unknown;
}

/** What becomes of the answers. `onPage` and `onEvent` answer the resource version that was reached. */
export interface LiveListSink {
  onListing(): void;
  onPage(answer: unknown): { readonly resourceVersion: string; readonly next: string };
  onListed(): void;
  onEvent(event: WatchedEvent): string;
  onHealth(health: WatchHealth): void;
}

export interface LiveListOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly path: string;
  readonly query: Query;
  readonly accept: string;
  /** Where a watch is asked for in another form than a list. */
  readonly watchAccept?: string;
  readonly signal: AbortSignal;
  readonly sink: LiveListSink;
}

const EVENT_TYPES = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

const decodeEvent = (line: string): WatchedEvent => {
  const event = parseExactJson(line, 'a watch');
  if (!isJsonObject(event)) throw new ClientError('MalformedAnswer', 'a watch sent an invalid event');
  if (event['type'] === 'ERROR') throw statusErrorFrom((event['object'] ?? {}) as Partial<Status>);
  if (!EVENT_TYPES.has(event['type'] as string))
    throw new ClientError('MalformedAnswer', 'a watch sent an event of an unknown type');
  return event as unknown as WatchedEvent;
};

/**
 * Lists, watches from where the list ended, and lists again only when the server no longer has that version.
 * Runs until the signal is aborted; throws errors that a retry cannot fix (no permission, no such resource).
 */
export class LiveList {
  readonly #options: LiveListOptions;
  readonly #backoff: Backoff;
  #resourceVersion = '';
  #lastEventAtMs: number | null = null;
  #listCount = 0;
  #eventCount = 0;
  #toldAtMs = -Infinity;

  constructor(options: LiveListOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock, options.random);
  }

  async run(): Promise<void> {
    const { signal, clock } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === '') await this.#list();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        if (isExpired(error)) this.#resourceVersion = '';
        else if (isFinal(error)) throw error;
        else {
          this.#tell('waiting', failureSaid(error));
          await pause(clock, this.#backoff.next(), signal).catch(() => undefined);
        }
      }
    }
  }

  async #list(): Promise<void> {
    const { client, path, query, accept, signal, sink } = this.#options;
    this.#tell('listing');
    sink.onListing();
    let next = '';
    let resourceVersion: string;
    do {
      const answer = await client.json({
        method: 'GET',
        path,
        accept,
        isExact: true,
        signal,
        query: { ...query, limit: PAGE_ROWS, ...(next !== '' && { continue: next }) },
      });
      ({ resourceVersion, next } = sink.onPage(answer));
    } while (next !== '' && !signal.aborted);
    if (signal.aborted) return;
    this.#listCount += 1;
    this.#resourceVersion = resourceVersion;
    sink.onListed();
  }

  async #watch(): Promise<void> {
    const { client, path, query, accept, watchAccept = accept, signal, random, clock } = this.#options;
    const stream = await client.stream({
      method: 'GET',
      path,
      accept: watchAccept,
      signal,
      query: {
        ...query,
        watch: true,
        allowWatchBookmarks: true,
        resourceVersion: this.#resourceVersion,
        timeoutSeconds: WATCH_SECONDS_MIN + random.below(WATCH_SECONDS_MIN),
      },
    });
    this.#tell('watching');
    try {
      for await (const line of readLines(stream)) {
        if (signal.aborted) return;
        const event = decodeEvent(line);
        const reached = this.#options.sink.onEvent(event);
        if (reached !== '') this.#resourceVersion = reached;
        this.#lastEventAtMs = clock.nowMs();
        if (event.type !== 'BOOKMARK') this.#eventCount += 1;
        if (clock.monotonicMs() - this.#toldAtMs >= HEALTH_INTERVAL_MS) this.#tell('watching');
        else this.#tellLater();
      }
    } finally {
      stream.dispose();
      this.#late?.dispose();
      this.#late = undefined;
    }
  }

  #late: { dispose(): void } | undefined;

  /** The last event before a silence must be told too. */
  #tellLater(): void {
    this.#late ??= this.#options.clock.after(HEALTH_INTERVAL_MS, () => this.#tell('watching'));
  }

  #tell(phase: WatchHealth['phase'], error: Said | null = null): void {
    this.#late?.dispose();
    this.#late = undefined;
    this.#toldAtMs = this.#options.clock.monotonicMs();
    this.#options.sink.onHealth({
      phase,
      resourceVersion: this.#resourceVersion,
      lastEventAtMs: this.#lastEventAtMs,
      relistCount: Math.max(0, this.#listCount - 1),
      eventCount: this.#eventCount,
      error,
    });
  }
}
