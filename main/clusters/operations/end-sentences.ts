import type { RestoreOutcome } from '../../../core/cluster/control/protocol.ts';
import type { SavedSnapshot } from '../../../core/cluster/etcd-operator/operations.ts';
import type { Fault } from '../../../core/cluster/faults/fault.ts';
import type { MembershipOutcome } from '../../../core/cluster/membership/add-member.ts';
import type { UpgradeOutcome } from '../../../core/cluster/upgrade/apply.ts';

/**
 * How an operation has ended, in one sentence a kind: the same whether this process did it or the one that runs the
 * cluster.
 */
const UNTIL = 'until it is healed or a host of it is started again';

const members = (count: number): string => `${count} ${count === 1 ? 'member' : 'members'}`;

export const faultAdded = ({ id, text }: Fault): string => `Fault ${id}: ${text}, ${UNTIL}.`;

export const hostIsolated = (host: string, cuts: readonly Fault[]): string =>
  `${host} reaches nobody and nobody reaches it: ${cuts.length} links are cut, ${UNTIL}.`;

export const faultsHealed = (healed: readonly Fault[]): string =>
  healed.length === 0
    ? 'Nothing was broken on purpose.'
    : `Healed: ${healed.map(({ text }) => text).join('; ')}.`;

export const memberJoined = ({ host, members: count }: MembershipOutcome): string =>
  `${host} joined; etcd has ${members(count)} now.`;

export const memberRemoved = ({ host, members: count }: MembershipOutcome): string =>
  `${host} was removed; etcd has ${members(count)} now.`;

export const snapshotSaved = ({ totalKey, revision, file }: SavedSnapshot): string =>
  `${totalKey} keys at revision ${revision} are saved in ${file}.`;

export const snapshotRestored = ({ entries, members: count, kept }: RestoreOutcome): string => {
  const before = kept[0] === undefined ? '' : ` The data of before is kept beside it, as ${kept[0]}.`;
  return `${entries} rows are restored into ${members(count)}.${before}`;
};

export const upgraded = ({ from, to, snapshot }: UpgradeOutcome): string => {
  const before = snapshot === undefined ? '' : ` The state of before is in ${snapshot}.`;
  return `Upgraded from ${from} to ${to}.${before}`;
};

export const rolledBack = ({ from, to }: UpgradeOutcome): string => `Back from ${from} to ${to}.`;
