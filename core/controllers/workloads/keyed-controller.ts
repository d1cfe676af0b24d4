import { runWorkers, WorkQueue, type HandlerResult, type RateLimiter } from '../../client/index.ts';
import type { Controller, ControllerContext } from '../runtime/controller.ts';

export interface KeyedControllerOptions {
  /** The label of the queue's metrics, as upstream names it. */
  readonly queueName: string;
  readonly workers: number;
  /** How long a key waits after a failure; client-go's default without it. */
  readonly rateLimiter?: RateLimiter;
  /** After this many failures in a row a key waits for its next event; never given up without it. */
  readonly retriesMax?: number;
  /** Brings the object of the key to where it should be; rejects to be tried again with back-off. */
  sync(key: string): Promise<HandlerResult>;
}

/** A queue of keys and the workers on it: what every controller here is made of. */
export const keyedController = (
  { clock, registry, log, record }: ControllerContext,
  options: KeyedControllerOptions,
): { readonly queue: WorkQueue; readonly controller: Controller } => {
  const queue = new WorkQueue({
    name: options.queueName,
    clock,
    registry,
    ...(options.rateLimiter && { rateLimiter: options.rateLimiter }),
  });
  const run = (signal: AbortSignal): Promise<void> =>
    runWorkers({
      queue,
      workers: options.workers,
      log,
      signal,
      handle: (key) => (record ? record.observe(queue, key, () => options.sync(key)) : options.sync(key)),
      ...(options.retriesMax !== undefined && { retriesMax: options.retriesMax }),
    });
  return { queue, controller: { run } };
};
