import { expect, test } from 'vitest';
import type { ClusterEntry } from '../../core/contract/index.ts';
import { clusterHealth, type Reach } from './cluster-health.ts';

type Local = NonNullable<ClusterEntry['local']>;
const local = (more: Partial<Local> = {}): { local: Local } => ({
  local: { directory: '/d', phase: 'ready', kubernetesVersion: 'v1.36.0', ...more },
});
const REACHED: Reach = { isReached: true };
const LOST: Reach = { isReached: false, why: 'connection refused' };

test.each([
  ['every host runs', local(), undefined, 'ready', 'ok'],
  ['a host is down', local({ impaired: ['cp-1'] }), REACHED, 'degraded', 'warn'],
  ['no API server answers, whatever hosts say', local(), LOST, 'unreachable', 'error'],
  ['it is stopped, whatever was reached before', local({ phase: 'stopped' }), REACHED, 'stopped', 'idle'],
  ['it starts', local({ phase: 'starting' }), LOST, 'starting', 'pending'],
  ['one of a kubeconfig answers', { local: null }, REACHED, 'ready', 'ok'],
  ['one of a kubeconfig does not answer', { local: null }, LOST, 'unreachable', 'error'],
  ['nobody has asked one of a kubeconfig', { local: null }, undefined, 'unknown', 'idle'],
] as const)('%s', (_what, entry, reach, code, tone) => {
  const { code: found, tone: shown } = clusterHealth(entry, reach, true);
  expect([found, shown]).toEqual([code, tone]);
});

test('a state that the console can no longer confirm is unknown, not green', () => {
  expect(clusterHealth(local(), REACHED, false).code).toBe('unknown');
});

test('the reason is named', () => {
  expect(clusterHealth(local({ impaired: ['cp-1', 'etcd-cp-2'] }), REACHED, true).why).toEqual([
    'cp-1',
    'etcd-cp-2',
  ]);
  expect(clusterHealth(local(), LOST, true).why).toEqual(['connection refused']);
});
