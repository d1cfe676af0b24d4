import { expect, test } from 'vitest';
import { verbatim } from '../../core/contract/index.ts';
import type { HostState } from '../../core/cluster/state/cluster-state.ts';
import { hostState } from '../../core/cluster/supervisor/testing/host-state.ts';
import { HostExits, type HostExitNotice } from './host-exits.ts';

const exit = (atMs: number, isGivenUp = false): Partial<HostState> => ({
  phase: 'killed',
  message: verbatim('terminated by SIGKILL; restarting in 1 s (1 of 5)'),
  lastExit: { reason: verbatim('terminated by SIGKILL'), atMs, isGivenUp },
});

const notice = (change: Partial<HostExitNotice>): HostExitNotice => ({
  host: 'cp-2',
  cause: 'exited',
  message: verbatim('terminated by SIGKILL; restarting in 1 s (1 of 5)'),
  isGivenUp: false,
  runningHosts: 0,
  totalHosts: 2,
  ...change,
});

test('an exit is reported once, and one from before the first look not at all', () => {
  const exits = new HostExits();
  const told = [
    exits.look({ hosts: [hostState('cp-1', exit(1)), hostState('cp-2')] }),
    exits.look({ hosts: [hostState('cp-1', exit(1)), hostState('cp-2', exit(5))] }),
    exits.look({ hosts: [hostState('cp-1', exit(1)), hostState('cp-2', exit(5))] }),
    exits.look({ hosts: [hostState('cp-1', exit(1)), hostState('cp-2', exit(9, true))] }),
  ];
  expect(told).toEqual([[], [notice({})], [], [notice({ isGivenUp: true })]]);
});

test('a kill that a person asked for is reported with the hosts that are left', () => {
  const exits = new HostExits();
  const killed: Partial<HostState> = { phase: 'killed', isEndWanted: true };
  const told = [
    exits.look({ hosts: [hostState('cp-1'), hostState('cp-2')] }),
    exits.look({ hosts: [hostState('cp-1'), hostState('cp-2', killed)] }),
    exits.look({ hosts: [hostState('cp-1'), hostState('cp-2', killed)] }),
    exits.look({ hosts: [hostState('cp-1'), hostState('cp-2')] }),
    exits.look({ hosts: [hostState('cp-1'), hostState('cp-2', killed)] }),
  ];
  const once = [notice({ cause: 'killed', message: null, runningHosts: 1 })];
  expect(told).toEqual([[], once, [], [], once]);
});
