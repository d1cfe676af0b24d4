import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { HandlerResult, Queue } from './queue.ts';

export interface WorkersOptions {
  readonly queue: Queue;
  readonly workers: number;
  readonly log: Log;
  /** Aborting it shuts the queue down; items that still wait are left, those in work are finished. */
  readonly signal: AbortSignal;
  /** Brings the object of the key to where it should be. Throwing means: later again, with back-off. */
  handle(key: string, signal: AbortSignal): Promise<HandlerResult>;
  /** After this many failures in a row an item is given up until it is added again; never without it. */
  readonly retriesMax?: number;
}

const work = async (options: WorkersOptions, key: string): Promise<void> => {
  const { queue, log, signal } = options;
  try {
    const result = await options.handle(key, signal);
    queue.forget(key);
    if (result) queue.addAfter(key, result.requeueAfterMs);
  } catch (error) {
    if (signal.aborted) return;
    const retries = queue.retriesOf(key);
    if (options.retriesMax !== undefined && retries >= options.retriesMax) {
      log.write('error', 'gave up on a key after its last retry', {
        queue: queue.name,
        key,
        error: messageOf(error),
      });
      queue.forget(key);
      return;
    }
    log.write('warn', 'failed to process a key; retrying', {
      queue: queue.name,
      key,
      retries,
      error: messageOf(error),
    });
    queue.addRateLimited(key);
  } finally {
    queue.done(key);
  }
};

/** Works on the queue with at most `workers` handlers at the same time. Resolves when stopped and all in work is done. */
export const runWorkers = async (options: WorkersOptions): Promise<void> => {
  const { queue, signal } = options;
  const stop = (): void => queue.shutDown();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const loop = async (): Promise<void> => {
    for (;;) {
      const key = await queue.take();
      if (key === undefined) return;
      if (signal.aborted) queue.done(key);
      else await work(options, key);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.workers }, loop));
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
