import type { RestoreOutcome } from '../../../core/cluster/restore/restore-cluster.ts';
import type { SavedSnapshot } from '../../../core/cluster/etcd-operator/operations.ts';
import type { RotationOutcome } from '../../../core/cluster/encryption/rotate.ts';
import type { Fault } from '../../../core/cluster/faults/fault.ts';
import type { HardeningOutcome } from '../../../core/cluster/harden/apply.ts';
import { sayFault } from '../../../core/cluster/supervisor/fault-board.ts';
import type { MembershipOutcome } from '../../../core/cluster/membership/add-member.ts';
import type { UpgradeOutcome } from '../../../core/cluster/upgrade/apply.ts';
import { say, type Said } from '../../../core/contract/index.ts';

// How an operation ended: the same whether this process did it or the one that runs the cluster.

export const faultAdded = (fault: Fault): Said =>
  say('done.fault.add', { id: fault.id, fault: sayFault(fault) });

export const hostIsolated = (host: string, cuts: readonly Fault[]): Said =>
  say('done.fault.isolate', { host, count: cuts.length });

export const faultsHealed = (healed: readonly Fault[]): Said =>
  healed.length === 0 ? say('done.fault.none') : say('done.fault.heal', { faults: healed.map(sayFault) });

export const memberJoined = ({ host, members: count }: MembershipOutcome): Said =>
  say('done.member.add', { host, count });

export const memberRemoved = ({ host, members: count }: MembershipOutcome): Said =>
  say('done.member.remove', { host, count });

export const snapshotSaved = ({ totalKey, revision, file }: SavedSnapshot): Said =>
  say('done.snapshot.save', { keys: totalKey, revision: `${revision}`, file });

export const snapshotRestored = ({ entries: keys, members: count, kept }: RestoreOutcome): Said =>
  kept[0] === undefined
    ? say('done.snapshot.restore', { keys, count })
    : say('done.snapshot.restore.kept', { keys, count, path: kept[0] });

export const upgraded = ({ from, to, snapshot }: UpgradeOutcome): Said =>
  snapshot === undefined
    ? say('done.upgrade', { from, to })
    : say('done.upgrade.snapshot', { from, to, file: snapshot });

export const rolledBack = ({ from, to }: UpgradeOutcome): Said => say('done.rollback', { from, to });

export const hardened = ({ isChanged, hosts }: HardeningOutcome): Said =>
  isChanged ? say('done.harden', { count: hosts.length }) : say('done.harden.none');

export const hardeningRolledBack = ({ hosts }: HardeningOutcome): Said =>
  say('done.harden.rollback', { count: hosts.length });

export const encrypted = ({ rewritten, keys }: RotationOutcome): Said =>
  say('done.encryption', { count: rewritten, keys: keys.join(', ') });
