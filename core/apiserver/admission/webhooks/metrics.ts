import type { Registry } from '../../../base/metrics/index.ts';
import type { Operation } from '../attributes.ts';

const WEBHOOK_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const CONDITION_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const CODE_MAX = 600;

export type HookType = 'admit' | 'validating';
export type RejectionError = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

export interface HookCallOutcome {
  readonly name: string;
  readonly operation: Operation;
  readonly durationMs: number;
  readonly rejected: boolean;
  readonly code: number;
  /** Absent where it was not rejected. */
  readonly error?: RejectionError | undefined;
}

/** Upstream's metrics of webhooks and match conditions. */
export interface WebhookMetrics {
  called(type: HookType, outcome: HookCallOutcome): void;
  failedOpen(type: HookType, name: string): void;
  conditions(
    of: {
      readonly kind: 'webhook' | 'policy';
      readonly type: string;
      readonly name: string;
      readonly operation: Operation;
    },
    outcome: { readonly durationMs: number; readonly failures: number; readonly excluded: boolean },
  ): void;
}

export const createWebhookMetrics = (metrics: Registry): WebhookMetrics => {
  const durations = metrics.histogramFamily({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'Time of one admission webhook in seconds, by name, operation, type (validating or admit) and outcome.',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: WEBHOOK_BUCKETS_SECONDS,
  });
  const requests = metrics.counterFamily({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Calls of admission webhooks, by name, type, operation, HTTP code and outcome. Codes above 600 count as 600.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
  });
  const rejections = metrics.counterFamily({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests that admission webhooks rejected, by name, type, operation, kind of error and code.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  });
  const failOpen = metrics.counterFamily({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Calls of admission webhooks that failed and were passed over, by name and type.',
    labels: ['name', 'type'],
  });
  const conditionErrors = metrics.counterFamily({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Match conditions that failed, by name of their webhook or policy, kind, type and operation.',
    labels: ['name', 'kind', 'type', 'operation'],
  });
  const exclusions = metrics.counterFamily({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Requests that match conditions excluded, by name of their webhook or policy, kind, type and operation.',
    labels: ['name', 'kind', 'type', 'operation'],
  });
  const conditionSeconds = metrics.histogramFamily({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    help: 'Time of the match conditions of a webhook or policy in seconds, by name, kind, type and operation.',
    labels: ['name', 'kind', 'type', 'operation'],
    buckets: CONDITION_BUCKETS_SECONDS,
  });
  return {
    called(type, { name, operation, durationMs, rejected, code, error }) {
      const shown = String(Math.min(code, CODE_MAX));
      requests.labels(name, type, operation, shown, String(rejected)).inc();
      durations.labels(name, type, operation, String(rejected)).observe(durationMs / 1000);
      if (error !== undefined) rejections.labels(name, type, operation, error, shown).inc();
    },
    failedOpen: (type, name) => failOpen.labels(name, type).inc(),
    conditions({ kind, type, name, operation }, { durationMs, failures, excluded }) {
      conditionSeconds.labels(name, kind, type, operation).observe(durationMs / 1000);
      if (failures > 0) conditionErrors.labels(name, kind, type, operation).inc(failures);
      if (excluded) exclusions.labels(name, kind, type, operation).inc();
    },
  };
};
