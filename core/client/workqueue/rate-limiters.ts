import type { Clock } from '../../base/clock.ts';
import { TokenBucket } from '../rest/token-bucket.ts';
import type { RateLimiter } from './queue.ts';

const ITEM_BASE_MS = 5;
const ITEM_MAX_MS = 1_000_000;
const BUCKET_QPS = 10;
const BUCKET_BURST = 100;
/** Beyond this the delay is the longest anyway; keeps the power finite. */
const EXPONENT_MAX = 40;

/** Doubles the delay of an item with each failure. */
export const exponentialLimiter = (baseMs = ITEM_BASE_MS, delayMsMax = ITEM_MAX_MS): RateLimiter => {
  const failures = new Map<string, number>();
  return {
    when(item) {
      const count = failures.get(item) ?? 0;
      failures.set(item, count + 1);
      return Math.min(delayMsMax, baseMs * 2 ** Math.min(count, EXPONENT_MAX));
    },
    forget: (item) => void failures.delete(item),
    retriesOf: (item) => failures.get(item) ?? 0,
  };
};

/** Bounds the retries of all items together. */
export const bucketLimiter = (clock: Clock, qps = BUCKET_QPS, burst = BUCKET_BURST): RateLimiter => {
  const bucket = new TokenBucket({ clock, qps, burst });
  return { when: () => bucket.reserveMs(), forget() {}, retriesOf: () => 0 };
};

/** The longest delay that any of them asks for. */
export const longestOf = (...limiters: readonly RateLimiter[]): RateLimiter => ({
  when: (item) => Math.max(...limiters.map((limiter) => limiter.when(item))),
  forget(item) {
    for (const limiter of limiters) limiter.forget(item);
  },
  retriesOf: (item) => Math.max(...limiters.map((limiter) => limiter.retriesOf(item))),
});

/** client-go's DefaultControllerRateLimiter. */
export const controllerLimiter = (clock: Clock): RateLimiter =>
  longestOf(exponentialLimiter(), bucketLimiter(clock));
