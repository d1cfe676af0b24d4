import type { Counter, Registry as Metrics } from '../../base/metrics/index.ts';

/** How old the tokens of service accounts are that callers bring. */
export interface TokenCounters {
  /** Of a secret, without an end. */
  readonly legacy: Counter;
  /** Of a pod that did not read its renewed token. */
  readonly stale: Counter;
  readonly valid: Counter;
}

/** Upstream's names. */
export const tokenCounters = (metrics: Metrics): TokenCounters => ({
  legacy: metrics.counter({
    name: 'serviceaccount_legacy_tokens_total',
    help: 'Cumulative legacy service account tokens used',
  }),
  stale: metrics.counter({
    name: 'serviceaccount_stale_tokens_total',
    help: 'Cumulative stale projected service account tokens used',
  }),
  valid: metrics.counter({
    name: 'serviceaccount_valid_tokens_total',
    help: 'Cumulative valid projected service account tokens used',
  }),
});
