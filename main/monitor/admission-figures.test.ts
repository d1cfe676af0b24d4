import { expect, test } from 'vitest';
import { admissionFiguresIn } from './admission-figures.ts';

const HOOK = 'name="label.example.com",type="admit",operation="CREATE"';
const exposition = `
apiserver_admission_webhook_admission_duration_seconds_bucket{${HOOK},rejected="false",le="0.005"} 3
apiserver_admission_webhook_admission_duration_seconds_bucket{${HOOK},rejected="false",le="+Inf"} 4
apiserver_admission_webhook_admission_duration_seconds_sum{${HOOK},rejected="false"} 0.02
apiserver_admission_webhook_rejection_count{${HOOK},error_type="no_error",rejection_code="403"} 2
apiserver_admission_webhook_rejection_count{${HOOK},error_type="calling_webhook_error",rejection_code="0"} 1
apiserver_admission_webhook_fail_open_count{name="label.example.com",type="admit"} 1
apiserver_validating_admission_policy_check_total{policy="small",policy_binding="b",error_type="invalid_error",enforcement_action="deny"} 5
apiserver_validating_admission_policy_check_total{policy="small",policy_binding="b",error_type="compile_error",enforcement_action="deny"} 1
apiserver_request_total{code="200"} 9
`;

test('calls, denials, failures and latency of webhooks and policies are added up over the servers', () => {
  expect(admissionFiguresIn([exposition, exposition])).toEqual([
    {
      source: 'webhook',
      type: 'mutating',
      name: 'label.example.com',
      calls: 8,
      denials: 4,
      failures: 4,
      meanMs: 5,
      p99Ms: 5,
    },
    {
      source: 'policy',
      type: 'validating',
      name: 'small',
      calls: 0,
      denials: 12,
      failures: 2,
      meanMs: null,
      p99Ms: null,
    },
  ]);
});
