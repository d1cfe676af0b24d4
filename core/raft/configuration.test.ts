import { expect, test } from 'vitest';
import {
  bootstrapLog,
  changeConfiguration,
  configurationOf,
  decodeConfigChange,
  EMPTY_CONFIGURATION,
  encodeConfigChange,
  LEAVE_JOINT,
  membersOf,
  type MemberChange,
} from './configuration.ts';
import type { Configuration } from './types.ts';

const change = (before: Configuration, ...changes: MemberChange[]): Configuration =>
  changeConfiguration(before, { changes, context: '' });

const reasonOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error instanceof Error && 'reason' in error ? error.reason : error;
  }
};

test('one voter more or less is taken at the same time', () => {
  expect(change(configurationOf([1, 2, 3]), { kind: 'addVoter', id: 4 })).toEqual(
    configurationOf([1, 2, 3, 4]),
  );
  expect(change(configurationOf([1, 2, 3]), { kind: 'remove', id: 1 })).toEqual(configurationOf([2, 3]));
});

test('several learners come at the same time: they are in no majority', () => {
  expect(change(configurationOf([1]), { kind: 'addLearner', id: 3 }, { kind: 'addLearner', id: 2 })).toEqual(
    configurationOf([1], [2, 3]),
  );
});

test('a learner is promoted by adding it as a voter', () => {
  expect(change(configurationOf([1], [2]), { kind: 'addVoter', id: 2 })).toEqual(configurationOf([1, 2]));
});

test('two voters go through a joint configuration, and a demoted one learns only after it (thesis 4.3)', () => {
  const joint = change(
    configurationOf([1, 2, 3]),
    { kind: 'addVoter', id: 4 },
    { kind: 'addLearner', id: 3 },
  );
  expect(joint).toEqual({ voters: [1, 2, 4], votersOutgoing: [1, 2, 3], learners: [], learnersNext: [3] });
  expect(changeConfiguration(joint, LEAVE_JOINT)).toEqual(configurationOf([1, 2, 4], [3]));
});

test('replacing one voter by another changes two, so it is joint', () => {
  const joint = change(configurationOf([1, 2, 3]), { kind: 'remove', id: 3 }, { kind: 'addVoter', id: 4 });
  expect(joint.votersOutgoing).toEqual([1, 2, 3]);
});

test('changes that would break the cluster are refused with a reason', () => {
  const joint = change(configurationOf([1, 2, 3]), { kind: 'remove', id: 3 }, { kind: 'addVoter', id: 4 });
  expect([
    reasonOf(() => change(joint, { kind: 'addVoter', id: 5 })),
    reasonOf(() => changeConfiguration(configurationOf([1]), LEAVE_JOINT)),
    reasonOf(() => change(configurationOf([1]), { kind: 'remove', id: 1 })),
    reasonOf(() => change(configurationOf([1]), { kind: 'addVoter', id: 0 })),
    reasonOf(() => change(configurationOf([1]), { kind: 'addVoter', id: 1.5 })),
  ]).toEqual(['AlreadyJoint', 'NotJoint', 'NoVoters', 'BadMember', 'BadMember']);
});

test('a change survives the log with the largest id and the context of its owner', () => {
  const original = {
    changes: [{ kind: 'addVoter', id: Number.MAX_SAFE_INTEGER }],
    context: 'größer "1"',
  } as const;
  expect(decodeConfigChange(encodeConfigChange(original))).toEqual(original);
});

test('bytes that are no change are refused as malformed', () => {
  for (const text of [
    '',
    'null',
    '{}',
    '{"changes":[{"kind":"promote","id":1}],"context":""}',
    '{"changes":[]}',
  ]) {
    const decode = (): unknown => decodeConfigChange(new TextEncoder().encode(text));
    expect(reasonOf(decode), text).toBe('Malformed');
  }
});

test('the first entry of a cluster yields its first voters, in one step however many they are', () => {
  const [entry] = bootstrapLog([3, 1, 2]);
  expect(entry).toMatchObject({ index: 1, term: 1, kind: 'config' });
  expect(changeConfiguration(EMPTY_CONFIGURATION, decodeConfigChange(entry!.data))).toEqual(
    configurationOf([1, 2, 3]),
  );
  expect(bootstrapLog([2, 3, 1])).toEqual([entry]);
});

test('the members of a configuration are all that take part in it, once each', () => {
  expect(membersOf({ voters: [4, 1], votersOutgoing: [1, 2], learners: [5], learnersNext: [2] })).toEqual([
    1, 2, 4, 5,
  ]);
});
