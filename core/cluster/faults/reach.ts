import { LOAD_BALANCER_END } from '../../contract/actions/fault.ts';
import type { ActionFacts } from './facts.ts';
import type { FaultRequest } from './fault.ts';

type Member = ActionFacts['members'][number];

/** A vote needs an answer: a link that is cut one way serves no more than one that is cut both ways. */
const isCut = (faults: readonly FaultRequest[], a: string, b: string): boolean =>
  faults.some(
    (fault) =>
      fault.kind === 'cut' && ((fault.from === a && fault.to === b) || (fault.from === b && fault.to === a)),
  );

/** The members that one of them hears, itself among them. */
export const heardBy = (
  member: Member,
  members: readonly Member[],
  faults: readonly FaultRequest[],
): readonly Member[] =>
  members.filter((other) => other.id === member.id || !isCut(faults, member.host, other.host));

/** How many votes the best placed of them can gather. */
export const votesMax = (members: readonly Member[], faults: readonly FaultRequest[]): number =>
  Math.max(0, ...members.map((member) => heardBy(member, members, faults).length));

/** Hosts that clients and the load balancer do not reach any more, which did before. */
export const hostsCutOff = (
  hosts: readonly string[],
  before: readonly FaultRequest[],
  after: readonly FaultRequest[],
): readonly string[] =>
  hosts.filter((host) => !isCut(before, host, LOAD_BALANCER_END) && isCut(after, host, LOAD_BALANCER_END));
