import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { seededRandom } from '../../base/random.ts';
import { NOBODY, type MemberId, type Role } from '../../raft/types.ts';
import { EarlyElection } from './early-election.ts';

const ELECTION_MS = 1000;

/** Member `id` of five, and when it stood for election. */
const electionOf = (id: MemberId, connected: readonly MemberId[]) => {
  const clock = manualClock();
  const stoodAtMs: number[] = [];
  const raft: { leader: MemberId; role: Role; term: number } = { leader: NOBODY, role: 'follower', term: 1 };
  const peers = new Set(connected);
  const early = new EarlyElection({
    raft: Object.assign(raft, {
      configuration: { voters: [1, 2, 3, 4, 5], votersOutgoing: [], learners: [], learnersNext: [] },
      campaign: () => void stoodAtMs.push(clock.monotonicMs()),
    }),
    id,
    clock,
    random: seededRandom(id),
    electionTimeoutMs: ELECTION_MS,
    isConnected: (peer) => peers.has(peer),
    wake: () => undefined,
  });
  return { clock, early, raft, peers, stoodAtMs };
};

const firstStandMs = (id: MemberId, connected: readonly MemberId[]): number => {
  const { clock, early, stoodAtMs } = electionOf(id, connected);
  early.begin();
  clock.advance(ELECTION_MS);
  return stoodAtMs[0] ?? Infinity;
};

test('members campaign one after the other, all well before the timeout', () => {
  const alive = [2, 3, 4, 5];
  const times = alive.map((id) => firstStandMs(id, alive));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  for (let i = 1; i < times.length; i += 1) expect(times[i]! - times[i - 1]!).toBeGreaterThan(15);
  expect(times.at(-1)).toBeLessThan(ELECTION_MS / 5);
});

test('no member campaigns before a quorum is connected', () => {
  const { clock, early, peers, stoodAtMs } = electionOf(1, [2]);
  early.begin();
  clock.advance(ELECTION_MS);
  expect(stoodAtMs).toEqual([]);
  peers.add(3);
  clock.advance(ELECTION_MS / 10);
  expect(stoodAtMs.length).toBe(1);
});

test('a lost attempt is repeated a few times', () => {
  const { clock, early, stoodAtMs } = electionOf(1, [2, 3]);
  early.begin();
  clock.advance(ELECTION_MS / 3);
  expect(stoodAtMs.length).toBeGreaterThan(1);
  clock.advance(20 * ELECTION_MS);
  expect(stoodAtMs.length).toBeLessThan(8);
});

test('a candidacy times out, and after a split vote another one starts', () => {
  const { clock, early, raft, stoodAtMs } = electionOf(1, [2, 3]);
  early.begin();
  clock.advance(ELECTION_MS / 10);
  raft.role = 'candidate';
  raft.term = 2;
  clock.advance(ELECTION_MS / 5);
  expect(stoodAtMs.length).toBe(1);
  clock.advance(ELECTION_MS / 2);
  expect(stoodAtMs.length).toBeGreaterThan(1);
});

test('it ends with the first leader', () => {
  const { clock, early, raft, stoodAtMs } = electionOf(1, [2, 3]);
  early.begin();
  clock.advance(ELECTION_MS / 10);
  raft.leader = 2;
  clock.advance(ELECTION_MS / 2);
  raft.leader = NOBODY;
  clock.advance(ELECTION_MS);
  expect(stoodAtMs.length).toBe(1);
});

test('after a while the election timeout alone decides', () => {
  const { clock, early, peers, stoodAtMs } = electionOf(1, []);
  early.begin();
  clock.advance(20 * ELECTION_MS);
  peers.add(2).add(3);
  clock.advance(20 * ELECTION_MS);
  expect(stoodAtMs).toEqual([]);
});
