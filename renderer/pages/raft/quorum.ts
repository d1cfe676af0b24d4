import { naturalOrder } from '../../../core/base/natural-order.ts';
import type { EtcdMember } from '../../../core/contract/index.ts';

export interface Quorum {
  readonly voters: number;
  readonly learners: number;
  /** A majority of the voters: that many have to answer, or nothing is written. */
  readonly needed: number;
  readonly healthy: number;
  /** How many more may fail before writes stop. */
  readonly tolerance: number;
  /** `outage`: writes stop. `degraded`: one more failure and they do. `single`: one voter, which never tolerates any. */
  readonly verdict: 'safe' | 'degraded' | 'single' | 'outage';
}

type Votes = Pick<EtcdMember, 'id' | 'role'>;

/** The quorum as it is, or as it would be if the members in `stopped` were down. */
export const quorumOf = (members: readonly Votes[], stopped: ReadonlySet<string> = new Set()): Quorum => {
  const voting = members.filter(({ role }) => role !== 'learner');
  const voters = voting.length;
  const needed = Math.floor(voters / 2) + 1;
  const healthy = voting.filter(({ id, role }) => role !== 'unreachable' && !stopped.has(id)).length;
  const tolerance = Math.max(0, healthy - needed);
  const hasQuorum = voters > 0 && healthy >= needed;
  return {
    voters,
    learners: members.length - voters,
    needed,
    healthy,
    tolerance,
    verdict: !hasQuorum ? 'outage' : tolerance > 0 ? 'safe' : voters === 1 ? 'single' : 'degraded',
  };
};

export interface RingArc {
  readonly id: string;
  readonly path: string;
}

const RING_GAP_DEGREES = 10;

const pointAt = (degrees: number, center: number, radius: number): string => {
  const radians = ((degrees - 90) * Math.PI) / 180;
  const round = (value: number): number => Math.round(value * 100) / 100;
  return `${round(center + radius * Math.cos(radians))} ${round(center + radius * Math.sin(radians))}`;
};

/** One arc a member, the first at the top; a single member is the whole ring but a gap. */
export const ringArcs = (
  ids: readonly string[],
  { center, radius }: { readonly center: number; readonly radius: number },
): readonly RingArc[] => {
  const part = 360 / Math.max(1, ids.length);
  return ids.map((id, index) => {
    const from = index * part - part / 2 + RING_GAP_DEGREES / 2;
    const sweep = part - RING_GAP_DEGREES;
    const isLarge = sweep > 180 ? 1 : 0;
    return {
      id,
      path: `M${pointAt(from, center, radius)}A${radius} ${radius} 0 ${isLarge} 1 ${pointAt(from + sweep, center, radius)}`,
    };
  });
};

/** Who should lead when the leader goes: the follower that is the least behind. */
export const successorOf = (
  members: readonly Pick<EtcdMember, 'id' | 'name' | 'role' | 'lag'>[],
): string | undefined =>
  members
    .filter(({ role }) => role === 'follower')
    .toSorted((a, b) => a.lag - b.lag || naturalOrder(a.name, b.name))[0]?.name;
