import { createHash } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { isJsonObject, type KubernetesObject } from '../../../api/meta/index.ts';
import { noOpinion, type Attributes, type Authorizer, type Verdict } from '../authorizer.ts';
import type { Matches } from './match-conditions.ts';
import { reviewOf, reviewSpecOf, type ReviewSpec, type ReviewVersion } from './subject-access-review.ts';
import type { WebhookMetrics } from './webhook-metrics.ts';

export interface WebhookAuthorizerOptions {
  readonly name: string;
  readonly version: ReviewVersion;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  /** The decision when the webhook cannot be asked. */
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly matches: Matches;
  /** Sends a review and answers the review that comes back. */
  readonly post: (review: object) => Promise<KubernetesObject>;
  readonly metrics: WebhookMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

const CACHED_MAX = 8192;
/** As upstream: longer questions are asked every time, so that callers cannot fill the cache. */
const CACHED_LENGTH_MAX = 10_000;

interface Status {
  readonly isAllowed: boolean;
  readonly isDenied: boolean;
  readonly reason: string;
}

const statusOf = ({ status }: KubernetesObject): Status => {
  if (!isJsonObject(status)) throw new Error('the webhook answered without a status');
  return {
    isAllowed: status['allowed'] === true,
    isDenied: status['denied'] === true,
    reason: typeof status['reason'] === 'string' ? status['reason'] : '',
  };
};

const verdictOf = ({ isAllowed, isDenied, reason }: Status): Verdict => {
  if (isDenied) return { decision: 'deny', reason };
  return isAllowed ? { decision: 'allow', reason } : noOpinion(reason);
};

/** Asks an HTTPS server about every request that its conditions match. Answers are cached. */
export const webhookAuthorizer = (options: WebhookAuthorizerOptions): Authorizer => {
  const { name, version, failurePolicy, matches, post, metrics, clock, log } = options;
  const cache = new Map<string, { readonly status: Status; readonly untilMs: number }>();

  const remember = (key: string, status: Status): void => {
    const ttlMs = status.isAllowed ? options.authorizedTtlMs : options.unauthorizedTtlMs;
    if (ttlMs <= 0) return;
    const oldest = cache.keys().next();
    if (cache.size >= CACHED_MAX && !oldest.done) cache.delete(oldest.value);
    cache.set(key, { status, untilMs: clock.monotonicMs() + ttlMs });
  };
  const failed = (error: unknown): Verdict => {
    log.write('warn', 'cannot ask an authorization webhook; its failure policy decides', {
      webhook: name,
      failurePolicy,
      error: messageOf(error),
    });
    if (failurePolicy === 'Deny') return { decision: 'deny', reason: '' };
    metrics.failedOpen(name);
    return noOpinion();
  };
  const ask = async (spec: ReviewSpec, key: string | undefined): Promise<Verdict> => {
    const startMs = clock.monotonicMs();
    const evaluated = (result: 'success' | 'error'): void =>
      metrics.evaluated(name, result, (clock.monotonicMs() - startMs) / 1000);
    try {
      const status = statusOf(await post(reviewOf(spec, version)));
      evaluated('success');
      if (key !== undefined) remember(key, status);
      return verdictOf(status);
    } catch (error) {
      evaluated('error');
      return failed(error);
    }
  };
  return {
    authorize(attributes: Attributes) {
      const spec = reviewSpecOf(attributes);
      try {
        if (!matches(spec)) return noOpinion();
      } catch (error) {
        return failed(error);
      }
      const text = JSON.stringify(spec);
      if (text.length > CACHED_LENGTH_MAX) return ask(spec, undefined);
      const key = createHash('sha256').update(text).digest('base64');
      const known = cache.get(key);
      if (known && clock.monotonicMs() < known.untilMs) return verdictOf(known.status);
      cache.delete(key);
      return ask(spec, key);
    },
  };
};
