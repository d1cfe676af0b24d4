import type { HostState } from '../../state/cluster-state.ts';

/** A control-plane host that runs and has no components, but for what is said otherwise. */
export const hostState = (name: string, change: Partial<HostState> = {}): HostState => ({
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
