import type { Registry } from '../../base/metrics/index.ts';
import type { RequestInfo } from '../server/request-info.ts';

export type RequestKind = 'readOnly' | 'mutating';

const READ_ONLY_VERBS = new Set(['get', 'list', 'watch']);
export const kindOf = ({ verb }: RequestInfo): RequestKind =>
  READ_ONLY_VERBS.has(verb) ? 'readOnly' : 'mutating';

export interface InFlightMetrics {
  change(kind: RequestKind, by: 1 | -1): void;
  dropped(kind: RequestKind): void;
}

/** Requests that are worked on, and those that were turned away; the same with and without priority and fairness. */
export const inFlightMetrics = (metrics: Registry): InFlightMetrics => {
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
  gauges.readOnly.set(0);
  gauges.mutating.set(0);
  return {
    change: (kind, by) => gauges[kind].add(by),
    dropped: (kind) => dropped.labels(kind).inc(),
  };
};
