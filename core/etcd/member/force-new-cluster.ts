import {
  LEAVE_JOINT,
  changeConfiguration,
  decodeConfigChange,
  encodeConfigChange,
  isJoint,
  membersOf,
} from '../../raft/configuration.ts';
import type { ConfigChange } from '../../raft/configuration.ts';
import type { HardState, LogEntry } from '../../raft/types.ts';
import { toConfigChange, type MembershipChange } from '../membership/index.ts';
import type { BootState } from './boot.ts';

type Forced = Pick<BootState, 'memberId' | 'hardState' | 'configuration' | 'entries' | 'applied'>;

/**
 * `--force-new-cluster`: a log in which all other members have been removed. What was committed stays; entries behind
 * it are dropped, for no one else is left to agree on them. Nothing is added where the member is alone already.
 */
export const forceNewCluster = (
  boot: Forced,
): {
  readonly entries: readonly LogEntry[];
  readonly added: readonly LogEntry[];
  readonly hardState: HardState;
} => {
  const { memberId, hardState, applied } = boot;
  const committed = boot.entries.filter(({ index }) => index <= hardState.commit);
  let { configuration } = boot;
  for (const entry of committed)
    if (entry.kind === 'config' && entry.index > applied)
      configuration = changeConfiguration(configuration, decodeConfigChange(entry.data));
  const changes: ConfigChange[] = [];
  // It may have stopped in the middle of a change.
  if (isJoint(configuration)) {
    changes.push(LEAVE_JOINT);
    configuration = changeConfiguration(configuration, LEAVE_JOINT);
  }
  const change = (made: MembershipChange): number => changes.push(toConfigChange(made, []));
  // A learner votes before the last voter leaves: a configuration without voters is none.
  if (configuration.learners.includes(memberId)) change({ kind: 'promote', id: memberId });
  for (const id of membersOf(configuration)) if (id !== memberId) change({ kind: 'remove', id });
  const added = changes.map((each, position): LogEntry => ({
    index: hardState.commit + 1 + position,
    term: hardState.term,
    kind: 'config',
    data: encodeConfigChange(each),
  }));
  return {
    entries: [...committed, ...added],
    added,
    hardState: { ...hardState, commit: hardState.commit + added.length },
  };
};
