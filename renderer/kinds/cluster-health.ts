import type { ClusterEntry } from '../../core/contract/index.ts';

export type ClusterHealthCode =
  | 'ready'
  | 'degraded'
  | 'unreachable'
  | 'unknown'
  | 'preparing'
  | 'starting'
  | 'stopping'
  | 'stopped'
  | 'failed';

/** What every indicator of a cluster says: the chip, the status bar and the lists derive from this alone. */
export interface ClusterHealth {
  readonly code: ClusterHealthCode;
  readonly tone: 'ok' | 'warn' | 'error' | 'pending' | 'idle';
  /** Hosts and components that are down, or why the API server cannot be reached. */
  readonly why: readonly string[];
}

/** How the last attempt to reach the API server ended; undefined while no one has tried. */
export type Reach = { readonly isReached: true } | { readonly isReached: false; readonly why: string };

const TONES: Readonly<Record<ClusterHealthCode, ClusterHealth['tone']>> = {
  ready: 'ok',
  degraded: 'warn',
  unreachable: 'error',
  unknown: 'idle',
  preparing: 'pending',
  starting: 'pending',
  stopping: 'pending',
  stopped: 'idle',
  failed: 'error',
};

const health = (code: ClusterHealthCode, why: readonly string[] = []): ClusterHealth => ({
  code,
  tone: TONES[code],
  why,
});

/**
 * The worst of what is known. A value that is no longer confirmed (the console has lost its host) is not shown as
 * current: nothing is known then.
 */
export const clusterHealth = (
  entry: Pick<ClusterEntry, 'local'>,
  reach: Reach | undefined,
  isConsoleLive: boolean,
): ClusterHealth => {
  if (!isConsoleLive) return health('unknown');
  const { local } = entry;
  if (local && local.phase !== 'ready') return health(local.phase);
  if (reach?.isReached === false) return health('unreachable', [reach.why]);
  if (local) {
    const impaired = local.impaired ?? [];
    return impaired.length > 0 ? health('degraded', impaired) : health('ready');
  }
  return reach ? health('ready') : health('unknown');
};
