import { ReasonError } from '../base/errors.ts';
import type { Configuration, LogEntry, MemberId } from './types.ts';
import { NOBODY } from './types.ts';

/** `addVoter` promotes a learner, `addLearner` demotes a voter. */
export interface MemberChange {
  readonly kind: 'addVoter' | 'addLearner' | 'remove';
  readonly id: MemberId;
}

/** What a `config` entry carries. No changes means: leave the joint configuration. */
export interface ConfigChange {
  readonly changes: readonly MemberChange[];
  /** The owner's own words about the change (a member's name and addresses); Raft only carries them. */
  readonly context: string;
}

export type ConfigChangeReason = 'AlreadyJoint' | 'NotJoint' | 'NoVoters' | 'BadMember' | 'Malformed';

export const EMPTY_CONFIGURATION: Configuration = {
  voters: [],
  votersOutgoing: [],
  learners: [],
  learnersNext: [],
};

export const LEAVE_JOINT: ConfigChange = { changes: [], context: '' };

export const isJoint = (configuration: Configuration): boolean => configuration.votersOutgoing.length > 0;

export const configurationOf = (
  voters: readonly MemberId[],
  learners: readonly MemberId[] = [],
): Configuration => ({
  ...EMPTY_CONFIGURATION,
  voters: sorted(voters),
  learners: sorted(learners),
});

/** Every member that votes, learns or is on its way out. */
export const membersOf = (configuration: Configuration): MemberId[] =>
  sorted(
    new Set([
      ...configuration.voters,
      ...configuration.votersOutgoing,
      ...configuration.learners,
      ...configuration.learnersNext,
    ]),
  );

/**
 * The configuration after `change`. One voter more or less overlaps every previous majority, so it is taken
 * immediately; more than one goes through a joint configuration, left by an entry of its own (thesis 4.3).
 */
export const changeConfiguration = (before: Configuration, change: ConfigChange): Configuration => {
  if (change.changes.length === 0) return leaveJoint(before);
  if (isJoint(before)) {
    throw new ReasonError<ConfigChangeReason>(
      'AlreadyJoint',
      'a joint membership change has to end before the next',
    );
  }
  const voters = new Set(before.voters);
  const learners = new Set(before.learners);
  for (const { kind, id } of change.changes) {
    if (!Number.isSafeInteger(id) || id <= NOBODY) {
      throw new ReasonError<ConfigChangeReason>('BadMember', `${String(id)} is no member id`);
    }
    voters.delete(id);
    learners.delete(id);
    if (kind === 'addVoter') voters.add(id);
    if (kind === 'addLearner') learners.add(id);
  }
  if (voters.size === 0) {
    throw new ReasonError<ConfigChangeReason>('NoVoters', 'the change would leave no voter');
  }
  // Before the first voter there is no majority that has to overlap: a cluster is born this way.
  const joint = before.voters.length > 0 && difference(before.voters, voters) > 1;
  if (!joint) return configurationOf([...voters], [...learners]);
  const outgoing = new Set(before.voters);
  return {
    voters: sorted(voters),
    votersOutgoing: sorted(outgoing),
    // A voter of the old half still votes there, so it cannot be a learner until that half is gone.
    learners: sorted([...learners].filter((id) => !outgoing.has(id))),
    learnersNext: sorted([...learners].filter((id) => outgoing.has(id))),
  };
};

const leaveJoint = (before: Configuration): Configuration => {
  if (!isJoint(before)) {
    throw new ReasonError<ConfigChangeReason>('NotJoint', 'there is no joint membership change to leave');
  }
  return configurationOf(before.voters, [...before.learners, ...before.learnersNext]);
};

const difference = (before: readonly MemberId[], after: ReadonlySet<MemberId>): number => {
  const kept = before.filter((id) => after.has(id)).length;
  return before.length - kept + (after.size - kept);
};

const sorted = (ids: Iterable<MemberId>): MemberId[] => [...ids].sort((a, b) => a - b);

export const encodeConfigChange = (change: ConfigChange): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ changes: change.changes, context: change.context }));

const KINDS: readonly string[] = ['addVoter', 'addLearner', 'remove'] satisfies MemberChange['kind'][];

const isMemberChange = (value: unknown): value is MemberChange =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  'id' in value &&
  typeof value.id === 'number' &&
  typeof value.kind === 'string' &&
  KINDS.includes(value.kind);

export const decodeConfigChange = (data: Uint8Array): ConfigChange => {
  const malformed = (cause?: unknown): ReasonError<ConfigChangeReason> =>
    new ReasonError('Malformed', 'the entry carries no membership change', { cause });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch (error) {
    throw malformed(error);
  }
  if (typeof value !== 'object' || value === null || !('changes' in value) || !('context' in value))
    throw malformed();
  const { changes, context } = value;
  if (!Array.isArray(changes) || !changes.every(isMemberChange) || typeof context !== 'string')
    throw malformed();
  return { changes, context };
};

export const BOOTSTRAP_TERM = 1;
export const BOOTSTRAP_INDEX = 1;

/**
 * The log that every first member starts from, the same on each: its only entry names the first voters and
 * counts as committed (hard state: term 1, commit 1). Members that join later start empty and receive it, so
 * the configuration can always be worked out from the log alone.
 */
export const bootstrapLog = (voters: readonly MemberId[], context = ''): LogEntry[] => [
  {
    index: BOOTSTRAP_INDEX,
    term: BOOTSTRAP_TERM,
    kind: 'config',
    data: encodeConfigChange({ changes: sorted(voters).map((id) => ({ kind: 'addVoter', id })), context }),
  },
];
