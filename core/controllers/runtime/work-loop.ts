import { messageOf } from '../../base/errors.ts';
import { pause, runWorkers, WorkQueue, type HandlerResult, type RateLimiter } from '../../client/index.ts';
import type { Controller, ControllerContext } from './controller.ts';

export interface WorkLoopOptions {
  /** The label of the queue's metrics. */
  readonly name: string;
  readonly workers: number;
  readonly retriesMax?: number;
  readonly rateLimiter?: RateLimiter;
  /** Rejects to be tried again with back-off. */
  handle(key: string, signal: AbortSignal): Promise<HandlerResult>;
  /** Runs beside the workers until the signal. */
  beside?(signal: AbortSignal): Promise<void>;
}

export interface WorkLoop extends Controller {
  readonly queue: WorkQueue;
}

/** A queue of keys and its workers, and what runs beside them. */
export const workLoop = (context: ControllerContext, options: WorkLoopOptions): WorkLoop => {
  const { clock, registry, log, record } = context;
  const { name, workers, retriesMax, rateLimiter } = options;
  const queue = new WorkQueue({ name, clock, registry, ...(rateLimiter && { rateLimiter }) });
  return {
    queue,
    async run(signal) {
      await Promise.all([
        runWorkers({
          queue,
          workers,
          log,
          signal,
          handle: (key, at) =>
            record ? record.observe(queue, key, () => options.handle(key, at)) : options.handle(key, at),
          ...(retriesMax !== undefined && { retriesMax }),
        }),
        options.beside?.(signal),
      ]);
    },
  };
};

/** Works immediately and then again and again with a pause between, until the signal or an answer of false. A failure is logged. */
export const repeat = async (
  { clock, log }: ControllerContext,
  pauseMs: number,
  signal: AbortSignal,
  work: () => Promise<boolean | void>,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      if ((await work()) === false) return;
    } catch (error) {
      if (!signal.aborted) log.write('warn', 'a periodic pass failed', { error: messageOf(error) });
    }
    await pause(clock, pauseMs, signal).catch(() => undefined);
  }
};
