import { expect, test } from 'vitest';
import type { Role } from '../../raft/types.ts';
import type { ProposeResult } from '../../raft/turn.ts';
import { Proposals } from './proposals.ts';
import { decodeRequestEntry } from './request-entry.ts';

const PAYLOAD = Buffer.from('payload');

/** A core that takes every proposal, as leader or on the way to one. */
const opened = (role: Role) => {
  const proposed: number[] = [];
  const raft = {
    term: 3,
    role,
    propose(data: Uint8Array): ProposeResult {
      proposed.push(decodeRequestEntry(data).sequence);
      return role === 'leader'
        ? { kind: 'appended', term: raft.term, index: proposed.length }
        : { kind: 'forwarded', to: 2 };
    },
    proposeConfiguration: (): ProposeResult => ({ kind: 'refused', reason: 'NoLeader' }),
  };
  const options = {
    member: 1,
    boot: 7,
    wake: () => undefined,
    nowMs: () => 0,
    limitMs: 5000,
    requestBytesMax: 1_000_000,
    leaderlessMs: 900,
  };
  return { raft, proposed, proposals: new Proposals({ raft, ...options }) };
};

const fateOf = async (asked: Promise<unknown>): Promise<string> =>
  Promise.race([
    asked.then(
      () => 'answered',
      (error: { reason?: string }) => error.reason ?? 'failed',
    ),
    new Promise<string>((resolve) => setImmediate(() => resolve('waiting'))),
  ]);

test('a request that was lost with its leader is proposed again in the next term', () => {
  const { proposals, proposed } = opened('follower');
  void proposals.propose('put', PAYLOAD);
  proposals.appliedTerm(3);
  expect(proposed).toEqual([1]);
  proposals.appliedTerm(4);
  expect(proposed).toEqual([1, 1]);
});

test('a request that may be in a state taken over from the leader is never proposed again', async () => {
  const { proposals, proposed } = opened('follower');
  const asked = proposals.propose('put', PAYLOAD);
  proposals.installed({ term: 4 });
  proposals.appliedTerm(5);
  expect([await fateOf(asked), proposed]).toEqual(['Timeout', [1]]);
});

test('a request of the term of such a state is answered if its entry still comes, and else not repeated', async () => {
  const { proposals, proposed } = opened('follower');
  const comes = proposals.propose('put', PAYLOAD);
  const isLost = proposals.propose('put', PAYLOAD);
  proposals.installed({ term: 3 });
  proposals.applied({ member: 1, boot: 7, sequence: 1 }, { value: {} });
  proposals.appliedTerm(4);
  expect([await fateOf(comes), await fateOf(isLost), proposed]).toEqual(['answered', 'waiting', [1, 2]]);
});

test('a proposal of a leader is rejected after it steps down, and fails when the term changes', async () => {
  const { proposals, proposed, raft } = opened('leader');
  expect(await fateOf(proposals.proposeAsLeader(2, 'leaseRevoke', PAYLOAD))).toBe('NotLeader');
  const asked = proposals.proposeAsLeader(3, 'leaseRevoke', PAYLOAD);
  raft.term = 4;
  proposals.appliedTerm(4);
  expect([await fateOf(asked), proposed]).toEqual(['LeaderChanged', [1]]);
});
