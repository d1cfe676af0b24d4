import type { Clock } from '../../base/clock.ts';
import type { Registry } from '../../base/metrics/index.ts';
import { assert } from '../../base/assert.ts';
import { contextKey } from '../server/context.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import { attributesOf, forbiddenFor, type Authorizer, type Verdict } from './authorizer.ts';

/** The verdict that let a request pass, for the audit. */
export const AUTHORIZATION_VERDICT = contextKey<Verdict>('authorization-verdict');

export interface AuthorizationOptions {
  readonly authorizer: Authorizer;
  readonly metrics: Registry;
  readonly clock: Clock;
}

const DURATION_BUCKETS_SECONDS = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024,
];

/** What is not allowed is forbidden. */
export const authorizationStage = ({ authorizer, metrics, clock }: AuthorizationOptions): Stage => {
  const attempts = metrics.counterFamily({
    name: 'authorization_attempts_total',
    help: 'Requests by the outcome of their authorization.',
    labels: ['result'],
  });
  const duration = metrics.histogramFamily({
    name: 'authorization_duration_seconds',
    help: 'Time that authorization took, in seconds.',
    labels: ['result'],
    buckets: DURATION_BUCKETS_SECONDS,
  });
  return {
    name: 'authorization',
    async run(context): Promise<StageResult> {
      assert(context.user, 'authorization stands behind authentication');
      const attributes = attributesOf(context.user, context.info);
      const startMs = clock.monotonicMs();
      const verdict = await authorizer.authorize(attributes);
      const result =
        verdict.decision === 'allow' ? 'allowed' : verdict.decision === 'deny' ? 'denied' : 'no-opinion';
      attempts.labels(result).inc();
      duration.labels(result).observe((clock.monotonicMs() - startMs) / 1000);
      if (verdict.decision !== 'allow') {
        context.response.setHeader('x-content-type-options', 'nosniff');
        throw forbiddenFor(attributes, verdict.reason);
      }
      context.set(AUTHORIZATION_VERDICT, verdict);
      return 'next';
    },
  };
};
