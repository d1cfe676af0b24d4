import type { Clock } from '../../../base/clock.ts';
import { tooManyRequests } from '../../../api/meta/index.ts';
import { obj, str } from '../../../api/validation/read.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly } from '../matching.ts';
import { aggregateMessage } from '../refusal.ts';

export const EVENT_LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

export interface EventLimit {
  readonly type: (typeof EVENT_LIMIT_TYPES)[number];
  readonly qps: number;
  readonly burst: number;
  /** Buckets that are kept, by namespace, user or source; the one that was not used for longest goes. */
  readonly cacheSize: number;
}

export const EVENT_CACHE_SIZE = 4096;

const keyOf = ({ type }: EventLimit, { namespace, user, object }: AdmissionAttributes): string => {
  switch (type) {
    case 'Server':
      return '';
    case 'Namespace':
      return namespace;
    case 'User':
      return user.name;
    case 'SourceAndObject': {
      const [source, involved] = object ? [obj(object, 'source'), obj(object, 'involvedObject')] : [{}, {}];
      return [
        ...['component', 'host'].map((name) => str(source, name)),
        ...['kind', 'namespace', 'name', 'uid', 'apiVersion'].map((name) => str(involved, name)),
      ].join('');
    }
  }
};

interface Bucket {
  tokens: number;
  sinceMs: number;
}

/** A token bucket for each key. */
class Limiter {
  readonly #limit: EventLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: EventLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** The text of a refusal; undefined: it passes. */
  refuses(attributes: AdmissionAttributes): string | undefined {
    const { type, qps, burst, cacheSize } = this.#limit;
    const key = keyOf(this.#limit, attributes);
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, sinceMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.sinceMs) / 1000) * qps);
    bucket.sinceMs = nowMs;
    // The order of a Map is that of insertion: the first key is the one that was used longest ago.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > cacheSize && !oldest.done) this.#buckets.delete(oldest.value);
    if (bucket.tokens < 1) return `limit reached on type ${type} for key ${key}`;
    bucket.tokens -= 1;
    return undefined;
  }
}

/** A storm of events must not take the server down. */
export const eventRateLimit = (clock: Clock, limits: readonly EventLimit[]): AdmissionPlugin => {
  const limiters = limits.map((limit) => new Limiter(limit, clock));
  return {
    name: 'EventRateLimit',
    handles: handlesOnly('CREATE', 'UPDATE'),
    validate(attributes) {
      const { kind, isDryRun } = attributes;
      const isEvent = (kind.group === '' || kind.group === 'events.k8s.io') && kind.kind === 'Event';
      if (!isEvent || isDryRun) return;
      const refused = limiters.flatMap((limiter) => limiter.refuses(attributes) ?? []);
      if (refused.length > 0) throw tooManyRequests(0, aggregateMessage(refused));
    },
  };
};
