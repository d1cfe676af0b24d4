import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { GroupResource } from '../../api/meta/index.ts';
import type { RequestContext } from '../server/context.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import { sendTextError, type ApiResponse } from '../server/response.ts';
import type { Classified, FlowController } from './flow-controller.ts';
import { flowMetrics, type FlowMetrics } from './flow-metrics.ts';
import { inFlightMetrics, kindOf } from './in-flight-metrics.ts';
import type { RejectReason, Ticket } from './queue-set.ts';
import { estimateWork, WatchCounts } from './work-estimate.ts';

const RETRY_AFTER_SECONDS = '1';
const TOO_MANY_TEXT = 'Too many requests, please try again later.';

export interface FairnessOptions {
  readonly controller: FlowController;
  readonly metrics: Registry;
  readonly clock: Clock;
  /** How long a request may wait in a queue; upstream: a quarter of the request timeout. */
  readonly waitMs: number;
  objectCount(resource: GroupResource): number | undefined;
}

const reject = async (response: ApiResponse): Promise<StageResult> => {
  response.setHeader('retry-after', RETRY_AFTER_SECONDS);
  await sendTextError(response, 429, TOO_MANY_TEXT);
  return 'done';
};

const setHeaders = (response: ApiResponse, { schema, level }: Classified): void => {
  if (schema.uid !== '') response.setHeader('x-kubernetes-pf-flowschema-uid', schema.uid);
  if (level.config.uid !== '') response.setHeader('x-kubernetes-pf-prioritylevel-uid', level.config.uid);
};

/**
 * API Priority and Fairness. A request takes seats of its priority level while it is worked on, and waits in a queue of
 * its flow while there are none. It gives them back when its answer is made: how slowly a client takes it is no work. A
 * watch gives them back when it begins. Other requests that last take none. Stands behind impersonation.
 */
export const fairnessStage = (options: FairnessOptions): Stage => {
  const { controller, clock, waitMs } = options;
  const metricsOf = flowMetrics(options.metrics, controller);
  const inFlight = inFlightMetrics(options.metrics);
  const watches = new WatchCounts();
  const estimates = { objectCount: options.objectCount, watchCount: (one: GroupResource) => watches.of(one) };

  const countWatch = (context: RequestContext): void => {
    const resource = { group: context.info.apiGroup, resource: context.info.resource };
    watches.change(resource, 1);
    context.defer(() => watches.change(resource, -1));
  };

  const execute = (
    context: RequestContext,
    metrics: FlowMetrics,
    ticket: Ticket,
    seats: number,
    waitedMs: number,
  ): StageResult => {
    const isWatch = context.info.verb === 'watch';
    const kind = kindOf(context.info);
    const startMs = clock.monotonicMs();
    metrics.dispatched(waitedMs / 1000);
    metrics.executing(1, seats);
    inFlight.change(kind, 1);
    let isHeld = true;
    const giveBack = (): void => {
      if (!isHeld) return;
      isHeld = false;
      metrics.executing(-1, seats);
      metrics.executed(isWatch ? 'watch' : 'regular', (clock.monotonicMs() - startMs) / 1000);
      inFlight.change(kind, -1);
      ticket.finish();
    };
    if (isWatch) {
      countWatch(context);
      context.response.onBegin(giveBack);
    }
    context.response.onComplete(giveBack);
    context.defer(giveBack);
    return 'next';
  };

  const rejected = (context: RequestContext, metrics: FlowMetrics, reason: RejectReason) => {
    metrics.rejected(reason);
    inFlight.dropped(kindOf(context.info));
    return reject(context.response);
  };

  return {
    name: 'flow-control',
    run(context) {
      assert(context.user, 'flow control stands behind authentication');
      const { info, user, request, response } = context;
      if (context.isLongRunning && info.verb !== 'watch') return 'next';
      const classified = controller.classify(info, user);
      const { level, schema, distinguisher, hash } = classified;
      const metrics = metricsOf(classified);
      setHeaders(response, classified);
      const work = estimateWork(context, level.nominalSeats, estimates);
      const seats = Math.max(work.initialSeats, work.finalSeats);
      let dispatched: (() => void) | undefined;
      const ticket = level.queues.start({
        work,
        hash,
        description: { schema: schema.name, distinguisher, user: user.name, info },
        onDispatched: () => dispatched?.(),
      });
      if (typeof ticket === 'string') return rejected(context, metrics, ticket);
      if (ticket.isExecuting) return execute(context, metrics, ticket, seats, 0);
      const arrivedMs = clock.monotonicMs();
      metrics.waiting(1, seats);
      return new Promise<StageResult>((resolve, fail) => {
        const leave = (): void => {
          timer.dispose();
          request.signal.removeEventListener('abort', giveUp);
          metrics.waiting(-1, seats);
        };
        const giveUp = (): void => {
          leave();
          ticket.cancel();
          rejected(context, metrics, 'time-out').then(resolve, fail);
        };
        const timer = clock.after(waitMs, giveUp);
        request.signal.addEventListener('abort', giveUp, { once: true });
        dispatched = () => {
          leave();
          resolve(execute(context, metrics, ticket, seats, clock.monotonicMs() - arrivedMs));
        };
      });
    },
  };
};
