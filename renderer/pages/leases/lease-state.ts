import type { LeaseView } from '../../../core/contract/index.ts';

/** `late`: held, but renewed later than its holder tries to. `expired`: anybody may take it. `vacant`: given up. */
export type LeaseState = 'held' | 'late' | 'expired' | 'vacant';

/** Leader election renews every 2 s of 15; past a third of the duration several attempts have failed. */
const LATE_SHARE = 1 / 3;
/** A kubelet renews every quarter of the duration; past half of it one renewal was missed. */
const NODE_LATE_SHARE = 1 / 2;

/** Holders add a random part to their host's name, so that a restart is another holder. */
export const shortHolder = (holder: string): string =>
  holder.replace(/_[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i, '').replace(/_[0-9a-f]{16,}$/i, '');

type Timed = Pick<LeaseView, 'renewedAtMs' | 'durationSeconds'>;

export const ageMsOf = ({ renewedAtMs }: Timed, serverNowMs: number): number | undefined =>
  renewedAtMs === null ? undefined : Math.max(0, serverNowMs - renewedAtMs);

/** What is left until anybody may take it, and as a share of the whole: never below nothing, never above all. */
export const leftOf = (
  lease: Timed,
  serverNowMs: number,
): { readonly leftMs: number; readonly share: number } => {
  const durationMs = lease.durationSeconds * 1000;
  const leftMs = Math.min(durationMs, Math.max(0, durationMs - (ageMsOf(lease, serverNowMs) ?? Infinity)));
  return { leftMs, share: durationMs > 0 ? leftMs / durationMs : 0 };
};

export const leaseState = (
  lease: Pick<LeaseView, 'holder' | 'kind' | keyof Timed>,
  serverNowMs: number,
): LeaseState => {
  if (lease.holder === '') return 'vacant';
  const { share } = leftOf(lease, serverNowMs);
  if (share <= 0) return 'expired';
  return 1 - share > (lease.kind === 'election' ? LATE_SHARE : NODE_LATE_SHARE) ? 'late' : 'held';
};

export const leaseKey = ({ namespace, name }: Pick<LeaseView, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** Those that need action first, then by name. */
const RANK: Readonly<Record<LeaseState, number>> = { expired: 0, vacant: 1, late: 2, held: 3 };
export const rankOf = (state: LeaseState): number => RANK[state];
