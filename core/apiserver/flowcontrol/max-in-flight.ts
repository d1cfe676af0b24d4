import type { Registry } from '../../base/metrics/index.ts';
import { isPrivileged } from '../authn/user.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import { sendTextError, type ApiResponse } from '../server/response.ts';

/** Upstream's --max-requests-inflight and --max-mutating-requests-inflight; 0 sets no limit. */
export const READ_ONLY_IN_FLIGHT_MAX = 400;
export const MUTATING_IN_FLIGHT_MAX = 200;

export interface MaxInFlightOptions {
  readonly metrics: Registry;
  readonly readOnlyMax?: number;
  readonly mutatingMax?: number;
}

const RETRY_AFTER_SECONDS = '1';
const TOO_MANY_TEXT = 'Too many requests, please try again later.';
const READ_ONLY_VERBS = new Set(['get', 'list', 'watch']);

type RequestKind = 'readOnly' | 'mutating';

const refuse = async (response: ApiResponse): Promise<StageResult> => {
  response.setHeader('retry-after', RETRY_AFTER_SECONDS);
  await sendTextError(response, 429, TOO_MANY_TEXT);
  return 'done';
};

/**
 * Bounds the requests that are worked on at a time. Long-running ones do not count, and system:masters is
 * always served: it is how an operator gets in when all else is full. Stands behind authentication for that.
 */
export const maxInFlightStage = (options: MaxInFlightOptions): Stage => {
  const { metrics, readOnlyMax = READ_ONLY_IN_FLIGHT_MAX, mutatingMax = MUTATING_IN_FLIGHT_MAX } = options;
  const limits: Record<RequestKind, number> = { readOnly: readOnlyMax, mutating: mutatingMax };
  const counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  const gauge = metrics.gaugeFamily({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests that are worked on, without long-running ones.',
    labels: ['request_kind'],
  });
  const dropped = metrics.counterFamily({
    name: 'apiserver_dropped_requests_total',
    help: 'Requests refused because too many were in flight.',
    labels: ['request_kind'],
  });
  const gauges = { readOnly: gauge.labels('readOnly'), mutating: gauge.labels('mutating') };
  const change = (kind: RequestKind, by: number): void => {
    counts[kind] += by;
    gauges[kind].set(counts[kind]);
  };
  change('readOnly', 0);
  change('mutating', 0);
  return {
    name: 'flow-control',
    run(context) {
      if (context.isLongRunning) return 'next';
      const kind = READ_ONLY_VERBS.has(context.info.verb) ? 'readOnly' : 'mutating';
      const isFull = limits[kind] > 0 && counts[kind] >= limits[kind];
      if (isFull && !isPrivileged(context.user)) {
        dropped.labels(kind).inc();
        return refuse(context.response);
      }
      change(kind, 1);
      context.defer(() => change(kind, -1));
      return 'next';
    },
  };
};
