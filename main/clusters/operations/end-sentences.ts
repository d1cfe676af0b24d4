import type { RestoreOutcome } from '../../../core/cluster/backup/restore-cluster.ts';
import type { SavedSnapshot } from '../../../core/cluster/etcd-operator/operations.ts';
import type { Fault } from '../../../core/cluster/faults/fault.ts';
import type { MembershipOutcome } from '../../../core/cluster/membership/add-member.ts';
import type { UpgradeOutcome } from '../../../core/cluster/upgrade/apply.ts';

/**
 * How an operation has ended, in one sentence a kind: the same whether this process did it or the one that runs the
 * cluster.
 */
const UNTIL = 'until you heal it or restart an affected host';

const members = (count: number): string => `${count} ${count === 1 ? 'member' : 'members'}`;

export const faultAdded = ({ id, text }: Fault): string => `Fault ${id}: ${text}, ${UNTIL}.`;

export const hostIsolated = (host: string, cuts: readonly Fault[]): string =>
  `${host} is isolated: ${cuts.length} links are cut, ${UNTIL}.`;

export const faultsHealed = (healed: readonly Fault[]): string =>
  healed.length === 0 ? 'No active faults.' : `Healed: ${healed.map(({ text }) => text).join('; ')}.`;

export const memberJoined = ({ host, members: count }: MembershipOutcome): string =>
  `Added ${host}. etcd now has ${members(count)}.`;

export const memberRemoved = ({ host, members: count }: MembershipOutcome): string =>
  `Removed ${host}. etcd now has ${members(count)}.`;

export const snapshotSaved = ({ totalKey, revision, file }: SavedSnapshot): string =>
  `Saved ${totalKey.toLocaleString('en')} keys at revision ${revision} to ${file}.`;

export const snapshotRestored = ({ entries, members: count, kept }: RestoreOutcome): string => {
  const before = kept[0] === undefined ? '' : ` Previous data is kept at ${kept[0]}.`;
  return `Restored ${entries.toLocaleString('en')} keys on ${members(count)}.${before}`;
};

export const upgraded = ({ from, to, snapshot }: UpgradeOutcome): string => {
  const before = snapshot === undefined ? '' : ` Pre-upgrade snapshot: ${snapshot}.`;
  return `Upgraded from ${from} to ${to}.${before}`;
};

export const rolledBack = ({ from, to }: UpgradeOutcome): string => `Rolled back from ${from} to ${to}.`;
