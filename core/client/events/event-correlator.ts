import type { Clock } from '../../base/clock.ts';
import type { Event } from '../kinds.ts';
import { TokenBucket } from '../rest/token-bucket.ts';
import { LruMap } from './lru-map.ts';

/** client-go's defaults, all of them. */
const CACHE_ENTRIES_MAX = 4096;
const SPAM_BURST = 25;
const SPAM_QPS = 1 / 300;
const SIMILAR_MAX = 10;
const SIMILAR_INTERVAL_MS = 600_000;
export const COMBINED_PREFIX = '(combined from similar events): ';

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Written {
  readonly name: string;
  readonly namespace: string;
  readonly firstTimestamp: string | undefined;
  count: number;
}

export type Correlated =
  | { readonly action: 'drop' }
  | { readonly action: 'create'; readonly event: Event; readonly key: string }
  | { readonly action: 'patch'; readonly event: Event; readonly key: string; readonly patch: object };

const sourceKey = ({ source, involvedObject: about }: Event): string =>
  [
    source?.component,
    source?.host,
    about.kind,
    about.namespace,
    about.name,
    about.uid,
    about.apiVersion,
  ].join('\n');

const similarKey = (event: Event): string =>
  [sourceKey(event), event.involvedObject.fieldPath, event.type, event.reason].join('\n');

/** Decides what becomes of an event: nothing, a new one, or one more of a known one. */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #buckets = new LruMap<TokenBucket>(CACHE_ENTRIES_MAX);
  readonly #similar = new LruMap<Similar>(CACHE_ENTRIES_MAX);
  readonly #written = new LruMap<Written>(CACHE_ENTRIES_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  correlate(event: Event): Correlated {
    const { event: combined, key } = this.#combine(event);
    if (!this.#bucketOf(combined).tryTake()) return { action: 'drop' };
    const written = this.#written.get(key);
    if (!written) return { action: 'create', event: combined, key };
    const count = written.count + 1;
    const { lastTimestamp, message } = combined;
    return {
      action: 'patch',
      key,
      event: {
        ...combined,
        metadata: { ...combined.metadata, name: written.name, namespace: written.namespace },
        ...(written.firstTimestamp && { firstTimestamp: written.firstTimestamp }),
        count,
      },
      patch: { count, lastTimestamp, message },
    };
  }

  /** The server has it now: later ones of the same key are counted into it. */
  written(key: string, event: Event): void {
    this.#written.set(key, {
      name: event.metadata.name ?? '',
      namespace: event.metadata.namespace ?? '',
      firstTimestamp: event.firstTimestamp,
      count: event.count ?? 1,
    });
  }

  /** The server has forgotten it (events live for an hour). */
  forgotten(key: string): void {
    this.#written.delete(key);
  }

  #combine(event: Event): { readonly event: Event; readonly key: string } {
    const group = similarKey(event);
    const message = event.message ?? '';
    const nowMs = this.#clock.monotonicMs();
    let similar = this.#similar.get(group);
    if (!similar || nowMs - similar.lastMs > SIMILAR_INTERVAL_MS)
      similar = { messages: new Set(), lastMs: nowMs };
    similar.messages.add(message);
    similar.lastMs = nowMs;
    this.#similar.set(group, similar);
    if (similar.messages.size < SIMILAR_MAX) return { event, key: `${group}\n${message}` };
    // Never grows past the bound, as upstream: one makes room for the next.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest);
      break;
    }
    return { event: { ...event, message: COMBINED_PREFIX + message }, key: group };
  }

  #bucketOf(event: Event): TokenBucket {
    const key = sourceKey(event);
    const known = this.#buckets.get(key);
    if (known) return known;
    const bucket = new TokenBucket({ clock: this.#clock, qps: SPAM_QPS, burst: SPAM_BURST });
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
