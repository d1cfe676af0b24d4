import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import type { OnLegacyToken } from './legacy-token-claims.ts';

export const LAST_USED_LABEL = 'kubernetes.io/legacy-token-last-used';
const DAY_MS = 86_400_000;
/** Secrets that are being labelled at a time; a use beyond that is recorded with the next one. */
const WRITES_MAX = 100;

export interface LegacyTokenTrackingOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Writes the label, unless the secret is another one by now. */
  label(
    secret: { readonly namespace: string; readonly name: string; readonly uid: string },
    date: string,
  ): Promise<void>;
}

const dateOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 'yyyy-mm-dd'.length);

/** Records the day of the last use in the secret of a token, once a day, and counts uses. No request waits for it. */
export const trackLegacyTokens = ({
  metrics,
  clock,
  log,
  label,
}: LegacyTokenTrackingOptions): OnLegacyToken => {
  const counters = {
    auto: metrics.counter({
      name: 'serviceaccount_legacy_auto_token_uses_total',
      help: 'Cumulative auto-generated legacy tokens used',
    }),
    manual: metrics.counter({
      name: 'serviceaccount_legacy_manual_token_uses_total',
      help: 'Cumulative manually created legacy tokens used',
    }),
    invalid: metrics.counter({
      name: 'serviceaccount_invalid_legacy_auto_token_uses_total',
      help: 'Cumulative invalid auto-generated legacy tokens used',
    }),
  };
  const writing = new Set<string>();
  return ({ namespace, secretName: name, secretUid: uid, lastUsed, kind }) => {
    counters[kind].inc();
    const today = dateOf(clock.nowMs());
    // A server whose clock is ahead may have written tomorrow's date.
    if (lastUsed === today || lastUsed === dateOf(clock.nowMs() + DAY_MS)) return;
    if (writing.has(uid) || writing.size >= WRITES_MAX) return;
    writing.add(uid);
    label({ namespace, name, uid }, today)
      .catch((error: unknown) =>
        log.write('warn', 'the last use of a service account token could not be recorded', {
          namespace,
          secret: name,
          error: messageOf(error),
        }),
      )
      .finally(() => writing.delete(uid));
  };
};
