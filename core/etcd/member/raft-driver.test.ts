import { expect, test } from 'vitest';
import type { RaftCore } from '../../raft/core.ts';
import type { Message } from '../../raft/messages.ts';
import type { Persist, Turn } from '../../raft/turn.ts';
import type { LogEntry } from '../../raft/types.ts';
import { RaftDriver } from './raft-driver.ts';

const NOTHING: Turn = {
  role: 'leader',
  term: 1,
  leader: 1,
  persist: undefined,
  send: [],
  apply: [],
  readStates: [],
  snapshotsWanted: [],
};
const ENTRY = { index: 1, term: 1 } as LogEntry;
const PERSIST: Persist = { snapshot: undefined, entries: [ENTRY], hardState: undefined };
const messages = (...names: string[]): Message[] => names as unknown as Message[];

/** Does the given turns, one each time it is woken, and tells in which order what happened. */
const drive = (turns: readonly Partial<Turn>[], { hasWaiting = true } = {}) => {
  const done: string[] = [];
  const deferred: (() => void)[] = [];
  const owed = [...turns];
  let isTaken = false;
  const raft = {
    turn(): Turn | undefined {
      isTaken = !isTaken;
      const next = isTaken ? owed.shift() : undefined;
      return next && { ...NOTHING, ...next };
    },
    applied: () => undefined,
    persisted: () => [],
  };
  const driver = new RaftDriver(raft as unknown as RaftCore, {
    beforeTurn: () => undefined,
    persist: async () => void done.push('write'),
    install: async () => undefined,
    send: (sent) => void done.push(`send ${sent.join(' ')}`),
    apply: () => void done.push('apply'),
    hasWaiting: () => hasWaiting,
    whenWritable: () => undefined,
    onReadStates: () => undefined,
    onLeadership: () => undefined,
    onSnapshotsWanted: () => undefined,
    onFailed: (error) => void done.push(String(error)),
    defer: (run) => void deferred.push(run),
  });
  /** One round of what was deferred until now. */
  const turn = (): void => deferred.splice(0).forEach((run) => run());
  return { driver, done, turn };
};

test('local proposers are answered before peers learn of a commit', () => {
  const { driver, done, turn } = drive([{ apply: [ENTRY], send: messages('commit') }]);
  driver.wake();
  turn();
  expect(done).toEqual(['apply']);
  turn();
  expect(done).toEqual(['apply', 'send commit']);
});

test('where no one waits here, the peers hear of a commit first: somebody may wait there', () => {
  const { driver, done, turn } = drive([{ apply: [ENTRY], send: messages('commit') }], { hasWaiting: false });
  driver.wake();
  turn();
  expect(done).toEqual(['send commit', 'apply']);
});

test('entries are sent before they are written locally and before they are applied', () => {
  const { driver, done, turn } = drive([{ persist: PERSIST, apply: [ENTRY], send: messages('append') }]);
  driver.wake();
  turn();
  expect(done).toEqual(['send append', 'write', 'apply']);
});

test('messages keep the order of their turns', () => {
  const { driver, done, turn } = drive([
    { apply: [ENTRY], send: messages('commit') },
    { persist: PERSIST, send: messages('append') },
  ]);
  driver.wake();
  turn();
  driver.wake();
  turn();
  expect(done).toEqual(['apply', 'send commit', 'send append', 'write']);
});
