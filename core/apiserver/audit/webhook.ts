import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { kubeconfigTarget } from '../webhook/kubeconfig-target.ts';
import { WebhookCallError, type WebhookClient } from '../webhook/webhook-client.ts';
import type { WebhookTarget } from '../webhook/target.ts';
import { truncated, type AuditBackend, type EncodedEvent } from './event.ts';

/** Upstream's: five attempts, each half again as long after the one before. */
const ATTEMPTS_MAX = 5;
const BACK_OFF_FACTOR = 1.5;
const TIMEOUT_MS = 30_000;

/** A kubeconfig that names the webhook: its URL and authority, and how this server proves who it is. */
export const loadWebhookTarget = async (file: string): Promise<WebhookTarget> => {
  try {
    return await kubeconfigTarget(file);
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--audit-webhook-config-file ${messageOf(cause)}`, {
      cause,
    });
  }
};

export interface WebhookBackendOptions {
  readonly target: WebhookTarget;
  readonly client: WebhookClient;
  readonly initialBackOffMs: number;
  /** Absent: events are sent whole. */
  readonly truncate?: { readonly eventBytesMax: number; readonly batchBytesMax: number } | undefined;
  readonly clock: Clock;
  readonly log: Log;
  onFailed?(count: number): void;
}

/** Rejections that asking again can change: no answer, or one that says the webhook is busy or broken. */
const isWorthRetrying = (error: unknown): boolean =>
  error instanceof WebhookCallError &&
  !error.isCanceled &&
  (error.status === undefined || error.status.code >= 500 || error.status.code === 429);

/** Sends events as an EventList, again with growing pauses while the webhook does not take them. */
export const createWebhookBackend = (options: WebhookBackendOptions): AuditBackend => {
  const { target, client, clock, log, truncate } = options;
  const closing = new AbortController();

  /** Ends early when the server stops: it waits for no webhook. */
  const pauseFor = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = clock.after(delayMs, () => end());
      const end = (): void => {
        timer.dispose();
        closing.signal.removeEventListener('abort', end);
        resolve();
      };
      if (closing.signal.aborted) end();
      else closing.signal.addEventListener('abort', end, { once: true });
    });

  const post = async (items: readonly EncodedEvent[]): Promise<boolean> => {
    const list = {
      kind: 'EventList',
      apiVersion: 'audit.k8s.io/v1',
      metadata: {},
      items: items.map(({ event }) => event),
    };
    let pauseMs = options.initialBackOffMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await client.post(target, list, {
          timeoutMs: TIMEOUT_MS,
          signal: closing.signal,
          isBodyIgnored: true,
        });
        return true;
      } catch (error) {
        if (attempt < ATTEMPTS_MAX && isWorthRetrying(error)) {
          await pauseFor(pauseMs);
          pauseMs *= BACK_OFF_FACTOR;
          continue;
        }
        options.onFailed?.(items.length);
        log.write('error', 'the audit webhook did not take events', {
          events: items.length,
          error: messageOf(error),
        });
        return false;
      }
    }
  };

  const batchesOf = (events: readonly EncodedEvent[]): readonly (readonly EncodedEvent[])[] => {
    if (!truncate) return [events];
    const batches: EncodedEvent[][] = [[]];
    let bytes = 0;
    for (const one of events) {
      const event = truncated(one, truncate.eventBytesMax);
      if (!event) {
        options.onFailed?.(1);
        continue;
      }
      if (bytes + event.json.length > truncate.batchBytesMax && batches.at(-1)!.length > 0) {
        batches.push([]);
        bytes = 0;
      }
      batches.at(-1)!.push(event);
      bytes += event.json.length;
    }
    return batches.filter(({ length }) => length > 0);
  };

  return {
    async process(events) {
      let isStored = true;
      for (const batch of batchesOf(events)) isStored = (await post(batch)) && isStored;
      return isStored;
    },
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
};
