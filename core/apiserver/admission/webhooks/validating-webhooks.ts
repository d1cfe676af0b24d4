import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { timeout } from '../../../api/meta/index.ts';
import type { WebhookClient } from '../../webhook/webhook-client.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { callHook } from './call-hook.ts';
import { isExempt, type HookMatcher, type Invocation } from './hook-matching.ts';
import type { HookSource } from './hook-source.ts';
import type { WebhookMetrics } from './metrics.ts';
import { judgeCall, type Observers } from './outcome.ts';

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/';

export interface WebhookPluginOptions {
  readonly source: HookSource;
  readonly matcher: HookMatcher;
  readonly client: WebhookClient;
  readonly clock: Clock;
  readonly metrics: WebhookMetrics;
  readonly log: Log;
}

/** Asks every validating webhook that is about a request, all at the same time; the first rejection is the answer. */
export const validatingWebhooks = (options: WebhookPluginOptions): AdmissionPlugin => {
  const { source, matcher, client } = options;
  const observers: Observers = {
    ...options,
    type: 'validating',
    configurationKind: 'ValidatingWebhookConfiguration',
  };
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: () => true,
    validate(attributes) {
      const hooks = source.hooks();
      if (hooks.length === 0 || isExempt(attributes)) return undefined;
      const run = async (): Promise<void> => {
        const invocations: Invocation[] = [];
        for (const hook of hooks) {
          const invocation = await matcher.match(hook, attributes);
          if (invocation) invocations.push(invocation);
        }
        if (invocations.length === 0) return;
        if (attributes.signal.aborted) throw timeout('request did not complete within requested timeout', 0);
        const outcomes = await Promise.allSettled(
          invocations.map((invocation, index) =>
            judgeCall(
              () => callHook(client, invocation, attributes, false),
              invocation,
              attributes,
              observers,
              () => attributes.annotate(`${FAILED_OPEN}round_0_index_${index}`, invocation.hook.name),
            ),
          ),
        );
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
      };
      return run();
    },
  };
};
