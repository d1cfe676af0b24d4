import { verbatim, type TimelineKind, type TimelineLane } from '../../contract/index.ts';
import type { StoredEntry } from './entry-lines.ts';

const LANES: Partial<Record<TimelineKind, TimelineLane>> = {
  action: 'operator',
  fault: 'faults',
  memberDown: 'etcd',
  memberUp: 'etcd',
  noLeader: 'etcd',
  leaderElected: 'etcd',
  leaseMoved: 'leases',
  nodeNotReady: 'nodes',
  event: 'events',
  alert: 'alerts',
};

/** An entry for tests: a moment about some names. */
export const entryOf = (
  id: number,
  kind: TimelineKind,
  about: readonly string[],
  { atMs = id * 1000, ...more }: Partial<StoredEntry> = {},
): StoredEntry => ({
  id,
  atMs,
  endMs: null,
  isOpen: false,
  lane: LANES[kind] ?? 'processes',
  kind,
  severity: 'info',
  about: [...about],
  text: verbatim(`${kind} ${about.join(' ')}`),
  source: null,
  ...more,
});
