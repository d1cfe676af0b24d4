import type { Registry } from '../../../base/metrics/index.ts';

export interface WebhookMetrics {
  evaluated(name: string, result: 'success' | 'error', seconds: number): void;
  failedOpen(name: string): void;
}

export const webhookAuthorizerMetrics = (metrics: Registry): WebhookMetrics => {
  const labels = ['name', 'result'] as const;
  const evaluations = metrics.counterFamily({
    name: 'apiserver_authorization_webhook_evaluations_total',
    help: 'Calls of authorization webhooks by their result.',
    labels,
  });
  const durations = metrics.histogramFamily({
    name: 'apiserver_authorization_webhook_duration_seconds',
    help: 'Time that authorization webhooks took, in seconds.',
    labels,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const openings = metrics.counterFamily({
    name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
    help: 'Calls of authorization webhooks that failed and left the decision to the next authorizer.',
    labels,
  });
  return {
    evaluated(name, result, seconds) {
      evaluations.labels(name, result).inc();
      durations.labels(name, result).observe(seconds);
    },
    failedOpen: (name) => openings.labels(name, 'error').inc(),
  };
};
