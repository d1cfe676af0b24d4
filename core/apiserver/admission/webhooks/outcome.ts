import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { messageOf } from '../../../base/errors.ts';
import { internalError, StatusError, timeout } from '../../../api/meta/index.ts';
import type { AdmissionAttributes } from '../attributes.ts';
import { CallingFailed, Rejected } from './hook-errors.ts';
import type { Invocation } from './hook-matching.ts';
import type { HookType, WebhookMetrics } from './metrics.ts';

const OK = 200;

export interface Observers {
  readonly type: HookType;
  readonly configurationKind: string;
  readonly clock: Clock;
  readonly metrics: WebhookMetrics;
  readonly log: Log;
}

/**
 * Runs one call of a webhook and decides what its failure means: answers undefined where a failure was passed over, and
 * throws the StatusError that the client gets otherwise.
 */
export const judgeCall = async <T>(
  call: () => Promise<T>,
  { hook }: Invocation,
  attributes: AdmissionAttributes,
  { type, configurationKind, clock, metrics, log }: Observers,
  onFailedOpen: () => void,
): Promise<T | undefined> => {
  const startMs = clock.monotonicMs();
  const { operation } = attributes;
  const observe = (
    rejected: boolean,
    code: number,
    error?: 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error',
  ): void =>
    metrics.called(type, {
      name: hook.name,
      operation,
      durationMs: clock.monotonicMs() - startMs,
      rejected,
      code,
      error: rejected ? error : undefined,
    });
  const record = (outcome: 'denied' | 'failed', message: string): void =>
    attributes.record({
      kind: configurationKind,
      name: hook.configuration,
      part: hook.name,
      outcome,
      message,
    });
  try {
    const answer = await call();
    observe(false, OK);
    return answer;
  } catch (error) {
    if (error instanceof CallingFailed) {
      const { failsOpen } = hook;
      observe(!failsOpen, error.code, error.isCanceled ? undefined : 'calling_webhook_error');
      record('failed', error.message);
      log.write(
        'warn',
        failsOpen ? 'an admission webhook failed and was passed over' : 'an admission webhook failed',
        {
          webhook: hook.name,
          error: error.message,
        },
      );
      if (!failsOpen) throw internalError(error.message, error);
      if (!error.isCanceled) {
        metrics.failedOpen(type, hook.name);
        onFailedOpen();
      }
      if (attributes.signal.aborted) throw timeout('request did not complete within requested timeout', 0);
      return undefined;
    }
    if (error instanceof Rejected) {
      observe(true, error.status.code, 'no_error');
      record('denied', error.status.message);
      throw error.status;
    }
    observe(true, 0, 'apiserver_internal_error');
    record('failed', messageOf(error));
    throw error instanceof StatusError ? error : internalError(messageOf(error), error);
  }
};
