import { expect, test } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { configurationOf, encodeConfigChange } from './configuration.ts';
import { RaftCore, type RaftOptions } from './core.ts';
import type { Message } from './messages.ts';
import type { Turn } from './turn.ts';
import type { LogEntry } from './types.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const coreOf = (options: Partial<RaftOptions> = {}): RaftCore =>
  new RaftCore({
    id: 1,
    random: seededRandom(7),
    electionTicks: 10,
    heartbeatTicks: 1,
    hardState: { term: 0, vote: 0, commit: 0 },
    configuration: configurationOf([1, 2, 3]),
    log: { mark: { index: 0, term: 0 }, entries: [] },
    applied: 0,
    ...options,
  });

const turnOf = (core: RaftCore): Turn => {
  const turn = core.turn();
  if (turn === undefined) throw new Error('expected work');
  return turn;
};

/** Runs turns until there is no work, with a disk and a state machine that are always ready. */
const settle = (core: RaftCore): Message[] => {
  const sent: Message[] = [];
  for (let turn = core.turn(); turn !== undefined; turn = core.turn()) {
    sent.push(...turn.send);
    if (turn.persist) sent.push(...core.persisted(turn.persist));
    for (const entry of turn.apply) {
      if (entry.kind === 'config') core.applyConfiguration(entry);
      core.applied(entry.index);
    }
  }
  return sent;
};

/** Member 1, elected by 2, its first entry committed. */
const voteReply = (
  from: number,
  { term, pre, reject = false }: { readonly term: number; readonly pre: boolean; readonly reject?: boolean },
): Message => ({ kind: 'voteReply', from, to: 1, term, pre, reject, commit: 0, commitTerm: 0 });
const leaderOf = (options: Partial<RaftOptions> = {}): RaftCore => {
  const core = coreOf(options);
  core.campaign();
  settle(core);
  core.step(voteReply(2, { term: core.term + 1, pre: true }));
  settle(core);
  core.step(voteReply(2, { term: core.term, pre: false }));
  settle(core);
  for (const peer of [2, 3]) ack(core, peer, core.lastIndex);
  settle(core);
  return core;
};

const ack = (core: RaftCore, from: number, index: number): void => {
  core.step({
    kind: 'appendReply',
    from,
    to: 1,
    term: core.term,
    index,
    reject: false,
    hintIndex: 0,
    hintTerm: 0,
  });
};

const appendTo = (
  core: RaftCore,
  fields: { term: number; prevIndex?: number; count?: number; commit?: number },
): void => {
  const { term, prevIndex = 0, count = 1, commit = 0 } = fields;
  core.step({
    kind: 'append',
    from: 2,
    to: 1,
    term,
    prevIndex,
    prevTerm: prevIndex === 0 ? 0 : term,
    entries: Array.from({ length: count }, (_, i) => ({
      index: prevIndex + 1 + i,
      term,
      kind: 'normal' as const,
      data: text(`t${term}`),
    })),
    commit,
  });
};

test('a candidate counts its own vote only once it is on disk (thesis 3.8)', () => {
  const core = coreOf({ configuration: configurationOf([1]) });
  core.campaign();
  const turn = turnOf(core);
  expect({ role: turn.role, hardState: turn.persist?.hardState }).toEqual({
    role: 'candidate',
    hardState: { term: 1, vote: 1, commit: 0 },
  });
  expect(core.turn()).toBeUndefined();
  core.persisted(turn.persist!);
  expect(core.role).toBe('leader');
});

test('a vote leaves only after it is on disk', () => {
  const core = coreOf();
  core.step({
    kind: 'voteRequest',
    from: 2,
    to: 1,
    term: 1,
    pre: false,
    transfer: false,
    lastIndex: 0,
    lastTerm: 0,
  });
  const turn = turnOf(core);
  expect(turn.send).toEqual([]);
  expect(turn.persist?.hardState).toEqual({ term: 1, vote: 2, commit: 0 });
  expect(core.persisted(turn.persist!)).toEqual([
    { kind: 'voteReply', from: 1, to: 2, term: 1, pre: false, reject: false, commit: 0, commitTerm: 0 },
  ]);
});

test('a member votes for one candidate a term, first come first served (paper 5.2)', () => {
  const core = coreOf();
  const ask = (from: number): void =>
    core.step({
      kind: 'voteRequest',
      from,
      to: 1,
      term: 1,
      pre: false,
      transfer: false,
      lastIndex: 0,
      lastTerm: 0,
    });
  ask(2);
  ask(3);
  ask(2);
  expect(settle(core).map((m) => m.kind === 'voteReply' && [m.to, m.reject])).toEqual([
    [2, false],
    [3, true],
    [2, false],
  ]);
});

test('a candidate with an older log gets no vote (paper 5.4.1)', () => {
  const core = coreOf({
    hardState: { term: 2, vote: 0, commit: 0 },
    log: { mark: { index: 0, term: 0 }, entries: [{ index: 1, term: 2, kind: 'normal', data: text('x') }] },
  });
  core.step({
    kind: 'voteRequest',
    from: 2,
    to: 1,
    term: 3,
    pre: false,
    transfer: false,
    lastIndex: 9,
    lastTerm: 1,
  });
  expect(settle(core)).toMatchObject([{ kind: 'voteReply', reject: true, term: 3 }]);
});

test('an acknowledgement waits for the entries that it speaks of, also when they came during a write', () => {
  const core = coreOf();
  appendTo(core, { term: 1 });
  const first = turnOf(core);
  appendTo(core, { term: 1, prevIndex: 1 });
  expect(core.turn()).toBeUndefined();
  expect(core.persisted(first.persist!)).toMatchObject([{ kind: 'appendReply', index: 1, reject: false }]);
  const second = turnOf(core);
  expect({ send: second.send, entries: second.persist?.entries.map((entry) => entry.index) }).toEqual({
    send: [],
    entries: [2],
  });
  expect(core.persisted(second.persist!)).toMatchObject([{ kind: 'appendReply', index: 2, reject: false }]);
});

test('entries replaced during their write are written again before they count', () => {
  const core = coreOf();
  appendTo(core, { term: 1, count: 3 });
  const first = turnOf(core);
  appendTo(core, { term: 2, count: 1 });
  core.persisted(first.persist!);
  expect(core.status().stable).toBe(0);
  const second = turnOf(core);
  expect(second.persist?.entries.map(({ index, term }) => ({ index, term }))).toEqual([
    { index: 1, term: 2 },
  ]);
  core.persisted(second.persist!);
  expect(core.status()).toMatchObject({ stable: 1, lastIndex: 1 });
});

test('an acknowledgement is dropped when a new term has replaced its entries during the write', () => {
  const core = coreOf();
  appendTo(core, { term: 1, count: 3 });
  const first = turnOf(core);
  appendTo(core, { term: 2, count: 1 });
  expect(core.persisted(first.persist!)).toEqual([]);
  expect(settle(core)).toMatchObject([{ kind: 'appendReply', term: 2, index: 1, reject: false }]);
});

test('a leader counts itself towards a commit only once its own disk has the entry (thesis 10.2.1)', () => {
  const core = leaderOf();
  const commit = core.status().commit;
  core.propose(text('x'));
  const turn = turnOf(core);
  ack(core, 2, core.lastIndex);
  expect(core.status().commit).toBe(commit);
  core.persisted(turn.persist!);
  expect(core.status().commit).toBe(commit + 1);
});

test('an entry that the others committed is applied only once it is on the own disk', () => {
  const core = leaderOf();
  core.propose(text('x'));
  const turn = turnOf(core);
  ack(core, 2, core.lastIndex);
  ack(core, 3, core.lastIndex);
  expect(core.status().commit).toBe(core.lastIndex);
  expect(core.turn()?.apply).toEqual([]);
  core.persisted(turn.persist!);
  expect(turnOf(core).apply.map((entry) => entry.index)).toEqual([core.lastIndex]);
});

test('64 proposals of a turn make one append for each follower and one write', () => {
  const core = leaderOf();
  for (let i = 0; i < 64; i += 1) core.propose(text(`${i}`));
  const turn = turnOf(core);
  expect(turn.send.map((m) => [m.kind, m.to, m.kind === 'append' && m.entries.length])).toEqual([
    ['append', 2, 64],
    ['append', 3, 64],
  ]);
  expect(turn.persist?.entries.length).toBe(64);
});

test('the window of unacknowledged appends is bounded', () => {
  const core = leaderOf({ bounds: { inflightMessagesMax: 2 } });
  const appends: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    core.propose(text('x'));
    appends.push(
      settle(core).filter((m) => m.kind === 'append' && m.to === 2 && m.entries.length > 0).length,
    );
  }
  expect(appends).toEqual([1, 1, 0, 0, 0]);
  ack(core, 2, core.lastIndex - 3);
  expect(settle(core).filter((m) => m.kind === 'append' && m.to === 2)).toMatchObject([
    { entries: { length: 3 } },
  ]);
});

test('an entry of an earlier term is not committed by counting replicas (paper 5.4.2, figure 8)', () => {
  const core = coreOf({
    hardState: { term: 1, vote: 0, commit: 0 },
    log: { mark: { index: 0, term: 0 }, entries: [{ index: 1, term: 1, kind: 'normal', data: text('old') }] },
  });
  core.campaign();
  settle(core);
  core.step(voteReply(2, { term: 2, pre: true }));
  settle(core);
  core.step(voteReply(2, { term: 2, pre: false }));
  settle(core);
  ack(core, 2, 1);
  ack(core, 3, 1);
  expect(core.status().commit).toBe(0);
  ack(core, 2, 2);
  expect(core.status().commit).toBe(2);
});

test('a moved commit index alone is no reason to write', () => {
  const core = coreOf();
  appendTo(core, { term: 1 });
  settle(core);
  core.step({ kind: 'heartbeat', from: 2, to: 1, term: 1, commit: 1, readRound: 0 });
  const turn = turnOf(core);
  expect({ persist: turn.persist, apply: turn.apply.length }).toEqual({ persist: undefined, apply: 1 });
});

test('committed entries are handed out by pages, the next when the last is applied', () => {
  const core = coreOf({ bounds: { applyingBytesMax: 100 } });
  appendTo(core, { term: 1, count: 5, commit: 5 });
  const turn = turnOf(core);
  core.persisted(turn.persist!);
  expect(turnOf(core).apply.map((entry) => entry.index)).toEqual([1, 2]);
  core.applied(1);
  core.applied(2);
  expect(turnOf(core).apply.map((entry) => entry.index)).toEqual([3, 4]);
});

test('proposals beyond the bound of uncommitted bytes are refused, but one alone always passes', () => {
  const core = leaderOf({ bounds: { uncommittedBytesMax: 4 } });
  expect(core.propose(text('longer than four')).kind).toBe('appended');
  expect(core.propose(text('x'))).toEqual({ kind: 'refused', reason: 'UncommittedTooLarge' });
  settle(core);
  ack(core, 2, core.lastIndex);
  expect(core.propose(text('x')).kind).toBe('appended');
});

test('proposals are refused while the state machine lags too far behind the commit', () => {
  const core = leaderOf({ bounds: { applyGapEntriesMax: 2 } });
  for (let i = 0; i < 3; i += 1) core.propose(text('x'));
  const turn = turnOf(core);
  core.persisted(turn.persist!);
  ack(core, 2, core.lastIndex);
  expect(core.propose(text('x'))).toEqual({ kind: 'refused', reason: 'GapTooLarge' });
  settle(core);
  for (const entry of core.entries(2, 1000)) core.applied(entry.index);
  expect(core.propose(text('x')).kind).toBe('appended');
});

test('a follower sends all proposals and reads of a turn to the leader in one message each', () => {
  const core = coreOf();
  expect(core.propose(text('x'))).toEqual({ kind: 'refused', reason: 'NoLeader' });
  expect(core.readIndex(1)).toBe('NoLeader');
  appendTo(core, { term: 1 });
  settle(core);
  expect(core.propose(text('x'))).toEqual({ kind: 'forwarded', to: 2 });
  core.propose(text('y'));
  core.readIndex(2);
  core.readIndex(3);
  expect(settle(core)).toMatchObject([
    { kind: 'propose', to: 2, proposals: [{ kind: 'normal' }, { kind: 'normal' }] },
    { kind: 'readIndex', to: 2, contexts: [2, 3] },
  ]);
});

test('reads of a turn share a round, and a repeated round has a new number', () => {
  const core = leaderOf();
  core.readIndex(11);
  core.readIndex(12);
  const round = (sent: Message[]): number[] =>
    sent.flatMap((m) => (m.kind === 'heartbeat' && m.to === 2 ? [m.readRound] : []));
  expect(round(settle(core))).toEqual([1]);
  core.tick();
  expect(round(settle(core))).toEqual([2]);
  core.step({ kind: 'heartbeatReply', from: 3, to: 1, term: core.term, readRound: 1 });
  expect(turnOf(core).readStates).toEqual([
    { index: core.lastIndex, context: 11 },
    { index: core.lastIndex, context: 12 },
  ]);
});

test('a leader answers no read before an entry of its own term is committed (thesis 6.4)', () => {
  const core = coreOf();
  core.campaign();
  settle(core);
  core.step(voteReply(2, { term: 1, pre: true }));
  settle(core);
  core.step(voteReply(2, { term: 1, pre: false }));
  settle(core);
  core.readIndex(5);
  expect(settle(core)).toEqual([]);
  ack(core, 2, 1);
  settle(core);
  core.step({ kind: 'heartbeatReply', from: 2, to: 1, term: 1, readRound: 1 });
  expect(turnOf(core).readStates).toEqual([{ index: 1, context: 5 }]);
});

test('applied entries count as committed after a restart, even if the hard state is older', () => {
  const core = coreOf({
    hardState: { term: 1, vote: 0, commit: 0 },
    log: { mark: { index: 0, term: 0 }, entries: [{ index: 1, term: 1, kind: 'normal', data: text('x') }] },
    applied: 1,
  });
  expect(core.status()).toMatchObject({ commit: 1, applied: 1 });
});

test('entries handed out before a snapshot came still change the configuration that they were meant for', () => {
  const core = coreOf();
  const data = encodeConfigChange({ changes: [{ kind: 'addVoter', id: 4 }], context: '' });
  const change: LogEntry = { index: 1, term: 1, kind: 'config', data };
  core.step({
    kind: 'append',
    from: 2,
    to: 1,
    term: 1,
    prevIndex: 0,
    prevTerm: 0,
    entries: [change],
    commit: 1,
  });
  core.persisted(turnOf(core).persist!);
  const { apply } = turnOf(core);
  const mark = { index: 9, term: 1, configuration: configurationOf([1, 2]) };
  core.step({ kind: 'snapshot', from: 2, to: 1, term: 1, mark });
  expect(core.applyConfiguration(apply[0]!)).toEqual(configurationOf([1, 2, 3, 4]));
  core.applied(1);
  const turn = turnOf(core);
  expect(turn.persist?.snapshot).toEqual(mark);
  expect(core.persisted(turn.persist!)).toMatchObject([{ kind: 'appendReply', index: 9 }]);
  expect(core.status()).toMatchObject({ applied: 9, configuration: mark.configuration });
});

test('a member that is not in a snapshot does not take it', () => {
  const core = coreOf();
  const mark = { index: 9, term: 1, configuration: configurationOf([2, 3]) };
  core.step({ kind: 'snapshot', from: 2, to: 1, term: 1, mark });
  expect(turnOf(core).persist?.snapshot).toBeUndefined();
  expect(core.status()).toMatchObject({ applied: 0, commit: 0 });
});

test('only the turn that is being persisted can be reported as persisted', () => {
  const core = coreOf();
  appendTo(core, { term: 1 });
  const turn = turnOf(core);
  expect(() => core.persisted({ ...turn.persist! })).toThrow('being persisted');
});

test('between two ticks that do something a member only counts', () => {
  const quiet = (core: RaftCore): { ticks: number; isQuietBefore: boolean; isDueThen: boolean } => {
    settle(core);
    const ticks = core.ticksUntilDue();
    for (let done = 0; done < ticks - 1; done += 1) core.tick();
    const isQuietBefore = core.turn() === undefined;
    core.tick();
    return { ticks, isQuietBefore, isDueThen: core.turn() !== undefined };
  };
  expect(quiet(leaderOf({ heartbeatTicks: 3 }))).toEqual({ ticks: 3, isQuietBefore: true, isDueThen: true });
  const { ticks, ...follower } = quiet(coreOf());
  expect(follower).toEqual({ isQuietBefore: true, isDueThen: true });
  expect(ticks).toBeGreaterThanOrEqual(10);
  expect(coreOf({ configuration: configurationOf([2, 3]) }).ticksUntilDue()).toBe(Infinity);
});
