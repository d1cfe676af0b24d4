import { expect, test } from 'vitest';
import type { HostState } from '../../core/cluster/index.ts';
import { HostExits } from './host-exits.ts';

const host = (name: string, change: Partial<HostState> = {}): HostState => ({
  name,
  role: 'control-plane',
  address: '',
  phase: 'running',
  pid: 1,
  rssBytes: undefined,
  message: undefined,
  exitSignal: undefined,
  isEndWanted: false,
  restarts: 0,
  lastExit: undefined,
  nodes: [name],
  components: [],
  ...change,
});

const exit = (atMs: number, isGivenUp = false): Partial<HostState> => ({
  phase: 'killed',
  message: 'terminated by SIGKILL; restarting in 1 s (1 of 5)',
  lastExit: { reason: 'terminated by SIGKILL', atMs, isGivenUp },
});

test('an exit is told once, and one from before the first look not at all', () => {
  const exits = new HostExits();
  const told = [
    exits.look({ hosts: [host('cp-1', exit(1)), host('cp-2')] }),
    exits.look({ hosts: [host('cp-1', exit(1)), host('cp-2', exit(5))] }),
    exits.look({ hosts: [host('cp-1', exit(1)), host('cp-2', exit(5))] }),
    exits.look({ hosts: [host('cp-1', exit(1)), host('cp-2', exit(9, true))] }),
  ];
  const message = 'terminated by SIGKILL; restarting in 1 s (1 of 5)';
  expect(told).toEqual([
    [],
    [{ host: 'cp-2', message, isGivenUp: false }],
    [],
    [{ host: 'cp-2', message, isGivenUp: true }],
  ]);
});
