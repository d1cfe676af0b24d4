/** What keeps one item from being tried too often; state per item until it is forgotten. */
export interface RateLimiter {
  /** Milliseconds to wait before the next try of `item`, which counts as one more failure. */
  when(item: string): number;
  forget(item: string): void;
  retriesOf(item: string): number;
}

/**
 * A queue of keys for controllers. An item that is added again while it waits is one item; one that is added
 * while it is worked on is handed out again after `done`, and never to two workers at the same time.
 */
export interface Queue {
  readonly name: string;
  /** Items that wait to be taken; those in work and those delayed are not counted. */
  readonly size: number;
  readonly isShuttingDown: boolean;
  add(item: string, options?: AddOptions): void;
  /** Adds it after a delay; of several delays for one item the earliest counts. */
  addAfter(item: string, delayMs: number, options?: AddOptions): void;
  /** Adds it after what the rate limiter says: after a failure. */
  addRateLimited(item: string, options?: AddOptions): void;
  /** Ends the item's history of failures: after a success. */
  forget(item: string): void;
  retriesOf(item: string): number;
  /** The next item; undefined once the queue is shut down and empty. Call `done` for each item. */
  take(): Promise<string | undefined>;
  done(item: string): void;
  /** Takes no more items; what waits is still handed out. */
  shutDown(): void;
  /** As `shutDown`, and resolves when everything handed out is done. */
  drain(): Promise<void>;
}

export interface AddOptions {
  /** Higher goes first; items of one priority go in the order in which they were added. 0 without it. */
  readonly priority?: number;
}

/** What a handler says about an item that it has dealt with. */
export type HandlerResult = void | { readonly requeueAfterMs: number };
