import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import { wait } from '../../base/wait.ts';
import {
  hasStatusReason,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import type { ObjectWriter } from './object-writer.ts';

/** Servers that start together meet at the same objects: a lost race is read again, so often and no more. */
const ATTEMPTS_MAX = 6;

export interface Wanted {
  readonly object: KubernetesObject;
  /** What the stored object must become; undefined when it may stay. It has the stored resourceVersion. */
  revise?(stored: KubernetesObject): KubernetesObject | undefined;
}

/**
 * Makes sure that an object is there and is as wanted. Safe to repeat, and to do from several servers at the same time. Looked at
 * in the cache first: a server at rest has a dozen such looks a minute that find everything in order.
 */
export const ensureObject = async (
  writer: ObjectWriter,
  resource: GroupResource,
  { object, revise }: Wanted,
): Promise<KubernetesObject> => {
  const { namespace = '', name = '' } = object.metadata ?? {};
  let last: unknown;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const seen = attempt === 0 ? await writer.seen(resource, namespace, name) : undefined;
    const stored = seen ?? (await writer.get(resource, namespace, name));
    try {
      if (stored === undefined) return await writer.create(resource, object);
      const revised = revise?.(stored);
      return revised === undefined ? stored : await writer.update(resource, revised);
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error;
      last = error;
    }
  }
  throw new ReasonError('AttemptsExceeded', `${resource.resource} ${name}: exceeded maximum attempts`, {
    cause: last,
  });
};

/** Worth another try: etcd is away, or a server answers that it is not ready. */
export const isPassing = (error: unknown): boolean =>
  hasStatusReason(error, 'ServiceUnavailable', 'Timeout', 'ServerTimeout', 'TooManyRequests', 'Conflict') ||
  (error instanceof ReasonError &&
    ['Unavailable', 'Timeout', 'TooManyRequests', 'AttemptsExceeded'].includes(error.reason));

export interface PollOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly intervalMs: number;
  readonly limitMs: number;
}

/** Repeats `work` until it answers true. What it throws ends it; so does the limit, and the signal. */
export const pollUntil = async (
  { clock, signal, intervalMs, limitMs }: PollOptions,
  work: () => Promise<boolean>,
): Promise<void> => {
  const untilMs = clock.monotonicMs() + limitMs;
  while (!signal.aborted) {
    if (await work()) return;
    if (clock.monotonicMs() + intervalMs > untilMs)
      throw new ReasonError('TimedOut', 'timed out waiting for the condition');
    await wait(clock, intervalMs, signal);
  }
};

/** Works on all items, so many at a time. `work` must not throw. */
export const forEachOf = async <T>(
  items: readonly T[],
  atOnceMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const rest = items.values();
  const drain = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, drain));
};

/** Runs `work` now and then again with a pause between; a failure is told and waits for the next time. */
export const repeat = (
  options: {
    readonly clock: Clock;
    readonly pauseMs: number;
    /** The pause after a failure. */
    readonly retryMs: number;
    onError(error: unknown): void;
  },
  work: () => Promise<void>,
): Disposable => {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const pauseMs = await work().then(
        () => options.pauseMs,
        (error: unknown) => {
          options.onError(error);
          return options.retryMs;
        },
      );
      await wait(options.clock, pauseMs, stop.signal);
    }
  };
  void run();
  return toDisposable(() => stop.abort());
};
