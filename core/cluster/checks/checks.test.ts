import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { CLUSTER_API_VERSION, defaultSpec, type ClusterConfig } from '../config/config.ts';
import { assessReadiness } from './readiness.ts';

const DAY_MS = 86_400_000;
const config = (controlPlanes: number): ClusterConfig => ({
  apiVersion: CLUSTER_API_VERSION,
  kind: 'Cluster',
  metadata: { name: 'pilothouse' },
  spec: { ...defaultSpec(20), controlPlanes, etcdMembers: controlPlanes },
});

const verdicts = (controlPlanes: number, flags: readonly string[]) => {
  const clock = manualClock();
  const findings = assessReadiness(
    {
      config: config(controlPlanes),
      state: undefined,
      lastSnapshotMs: clock.nowMs() - 3 * DAY_MS,
      certificatesEndMs: clock.nowMs() + 10 * DAY_MS,
      apiServerFlags: [flags],
    },
    clock,
  );
  return Object.fromEntries(findings.map(({ name, verdict }) => [name, verdict]));
};

test('what one control plane lacks is named', () => {
  expect(verdicts(1, [])).toEqual({
    running: 'problem',
    'etcd members': 'problem',
    'API servers': 'problem',
    backup: 'warning',
    certificates: 'problem',
    'encryption at rest': 'warning',
    audit: 'warning',
  });
});

test('three control planes with encryption and audit lack less', () => {
  expect(verdicts(3, ['--encryption-provider-config=e', '--audit-policy-file=a'])).toMatchObject({
    'etcd members': 'ok',
    'API servers': 'ok',
    'encryption at rest': 'ok',
    audit: 'ok',
  });
});
