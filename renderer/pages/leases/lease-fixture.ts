import type { LeaseView } from '../../../core/contract/index.ts';

/** A lease that was just renewed by cp-1, for tests. */
export const leaseFixture = (name: string, more: Partial<LeaseView> = {}): LeaseView => ({
  namespace: 'kube-system',
  name,
  kind: 'election',
  holder: 'cp-1',
  acquiredAtMs: 0,
  renewedAtMs: 0,
  durationSeconds: 15,
  transitions: 0,
  segments: [{ holder: 'cp-1', fromMs: 0, toMs: null }],
  renewGapsSeconds: [],
  ...more,
});
