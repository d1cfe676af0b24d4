/** What one check, or one try to connect, found out. */
export type CheckOutcome =
  | { readonly kind: 'ready'; readonly latencyMs: number }
  /** It answers, but says that it is not ready; `isShuttingDown` when that is why. */
  | { readonly kind: 'not-ready'; readonly isShuttingDown: boolean; readonly error: string }
  | { readonly kind: 'unreachable'; readonly error: string };

/**
 * `untested`: no check has ended yet. `ready`: takes connections. `failing`: was ready and answers that it is not, so it
 * is a last resort. `out`: takes none.
 */
export type BackendStanding = 'untested' | 'ready' | 'failing' | 'out';

export interface BackendHealth {
  readonly standing: BackendStanding;
  readonly isShuttingDown: boolean;
  readonly wasReady: boolean;
  readonly failures: number;
  readonly lastError: string | undefined;
  readonly latencyMs: number | undefined;
}

/** Failures in a row that take a backend out; one success brings it back. */
export const FAILURES_OUT = 2;

export const UNTESTED: BackendHealth = {
  standing: 'untested',
  isShuttingDown: false,
  wasReady: false,
  failures: 0,
  lastError: undefined,
  latencyMs: undefined,
};

const standingAfter = (before: BackendHealth, outcome: CheckOutcome, failures: number): BackendStanding => {
  if (outcome.kind === 'ready') return 'ready';
  // What says itself that it goes away needs no second opinion.
  if (outcome.kind === 'not-ready' && outcome.isShuttingDown) return 'out';
  if (failures < FAILURES_OUT && before.standing === 'ready') return 'ready';
  // A server that has never been ready may not have its policies yet, and would refuse what it should allow.
  return outcome.kind === 'not-ready' && before.wasReady ? 'failing' : 'out';
};

export const afterCheck = (before: BackendHealth, outcome: CheckOutcome): BackendHealth => {
  const isReady = outcome.kind === 'ready';
  const failures = isReady ? 0 : before.failures + 1;
  return {
    standing: standingAfter(before, outcome, failures),
    isShuttingDown: outcome.kind === 'not-ready' && outcome.isShuttingDown,
    wasReady: before.wasReady || isReady,
    failures,
    lastError: isReady ? before.lastError : outcome.error,
    latencyMs: isReady ? outcome.latencyMs : before.latencyMs,
  };
};

/** The lower goes first; undefined takes no connections. */
const RANKS: Readonly<Record<BackendStanding, number | undefined>> = {
  ready: 0,
  untested: 1,
  failing: 2,
  out: undefined,
};

export interface Candidate {
  readonly name: string;
  readonly standing: BackendStanding;
  readonly connections: number;
}

/** The best standing, then the fewest connections; `turn` decides among equals, so that an idle balancer spreads too. */
export const chooseBackend = <C extends Candidate>(
  candidates: readonly C[],
  tried: ReadonlySet<string>,
  turn: number,
): C | undefined => {
  let best: C | undefined;
  for (let step = 0; step < candidates.length; step += 1) {
    const candidate = candidates[(turn + step) % candidates.length]!;
    const rank = RANKS[candidate.standing];
    if (rank === undefined || tried.has(candidate.name)) continue;
    const bestRank = best ? RANKS[best.standing]! : Infinity;
    if (rank < bestRank || (rank === bestRank && candidate.connections < best!.connections)) best = candidate;
  }
  return best;
};
