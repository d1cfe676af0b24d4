import type { Registry } from '../../../base/metrics/index.ts';

const BUCKETS_SECONDS = [0.000_000_5, 0.001, 0.01, 0.1, 1];

export type PolicyAction = 'allow' | 'audit' | 'deny' | 'warn';
export type PolicyError = 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget';

export interface PolicyMetrics {
  checked(
    policy: string,
    binding: string,
    outcome: { error: PolicyError; action: PolicyAction; durationMs: number },
  ): void;
}

/** Upstream's metrics of one kind of policies. */
export const createPolicyMetrics = (metrics: Registry, kind: 'validating' | 'mutating'): PolicyMetrics => {
  const labels = ['policy', 'policy_binding', 'error_type', 'enforcement_action'] as const;
  const total = metrics.counterFamily({
    name: `apiserver_${kind}_admission_policy_check_total`,
    help: 'Checks of admission policies, by policy, binding, kind of error and action taken.',
    labels,
  });
  const seconds = metrics.histogramFamily({
    name: `apiserver_${kind}_admission_policy_check_duration_seconds`,
    help: 'Time of single expressions of admission policies in seconds, by policy, binding, kind of error and action.',
    labels,
    buckets: BUCKETS_SECONDS,
  });
  return {
    checked(policy, binding, { error, action, durationMs }) {
      total.labels(policy, binding, error, action).inc();
      seconds.labels(policy, binding, error, action).observe(durationMs / 1000);
    },
  };
};

/** The kind of an error by its text, as upstream tells them apart. */
export const errorTypeOf = (message: string): PolicyError => {
  if (message.startsWith('compilation')) return 'compile_error';
  if (message.startsWith('validation failed due to running out of cost budget')) return 'out_of_budget';
  return 'invalid_error';
};
