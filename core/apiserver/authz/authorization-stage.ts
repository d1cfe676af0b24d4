import type { Clock } from '../../base/clock.ts';
import type { Registry } from '../../base/metrics/index.ts';
import { assert } from '../../base/assert.ts';
import { contextKey, type RequestContext } from '../server/context.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import { attributesOf, forbiddenFor, type Attributes, type Authorizer, type Verdict } from './authorizer.ts';

/** The verdict about a request, for the audit. */
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
  const outcomes = {
    allow: { attempts: attempts.labels('allowed'), duration: duration.labels('allowed') },
    deny: { attempts: attempts.labels('denied'), duration: duration.labels('denied') },
    'no-opinion': { attempts: attempts.labels('no-opinion'), duration: duration.labels('no-opinion') },
  };
  const conclude = (
    context: RequestContext,
    attributes: Attributes,
    verdict: Verdict,
    startMs: number,
  ): StageResult => {
    const outcome = outcomes[verdict.decision];
    outcome.attempts.inc();
    outcome.duration.observe((clock.monotonicMs() - startMs) / 1000);
    context.set(AUTHORIZATION_VERDICT, verdict);
    if (verdict.decision !== 'allow') {
      context.response.setHeader('x-content-type-options', 'nosniff');
      throw forbiddenFor(attributes, verdict.reason);
    }
    return 'next';
  };
  return {
    name: 'authorization',
    run(context) {
      assert(context.user, 'authorization stands behind authentication');
      const attributes = attributesOf(context.user, context.info);
      const startMs = clock.monotonicMs();
      const verdict = authorizer.authorize(attributes);
      return verdict instanceof Promise
        ? verdict.then((later) => conclude(context, attributes, later, startMs))
        : conclude(context, attributes, verdict, startMs);
    },
  };
};
