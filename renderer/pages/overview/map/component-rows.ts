import type { ComponentState, HostState, LocalClusterState } from '../../../../core/contract/index.ts';
import type { StatusTone } from '../../../kinds/status-tone.ts';

/** In the order of a request on its way down; what is not listed comes after, by name. */
const ORDER = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'etcd',
];

export type ComponentRole = 'active' | 'leader' | 'standby' | 'follower' | 'none';

export interface ComponentRow {
  readonly name: string;
  /** `away`: its host does not run; `aside`: it was stopped intentionally. */
  readonly phase: ComponentState['phase'] | 'away' | 'aside';
  readonly tone: StatusTone;
  readonly role: ComponentRole;
  readonly version: string;
  readonly restarts: number;
  readonly message: string | undefined;
  readonly heapBytes: number | undefined;
  readonly utilization: number | undefined;
}

export const phaseTone = (phase: ComponentRow['phase']): StatusTone => {
  switch (phase) {
    case 'ready':
      return 'ok';
    case 'starting':
    case 'serving':
      return 'pending';
    case 'stopping':
    case 'away':
    case 'aside':
      return 'idle';
    case 'exited':
      return 'error';
  }
};

/** What ended on its own says why. Without a word it was stopped intentionally: its manifest is out of the folder. */
export const isAside = ({ phase, message }: Pick<ComponentState, 'phase' | 'message'>): boolean =>
  phase === 'exited' && message === null;

export const hostTone = (host: HostState): StatusTone => {
  switch (host.phase) {
    case 'running':
      return host.components.some((component) => component.phase === 'exited' && !isAside(component))
        ? 'warn'
        : host.components.some(({ phase }) => phase === 'starting' || phase === 'serving')
          ? 'pending'
          : 'ok';
    case 'starting':
      return 'pending';
    case 'paused':
      return 'warn';
    case 'stopping':
    case 'stopped':
      return 'idle';
    case 'killed':
    case 'failed':
      return 'error';
  }
};

export const isHostUp = ({ phase }: Pick<HostState, 'phase'>): boolean => phase === 'running';

const roleOf = (component: ComponentState): ComponentRole => {
  if (component.phase !== 'ready') return 'none';
  if (component.name === 'kube-apiserver') return 'active';
  if (component.isLeader) return 'leader';
  if (component.name === 'etcd') return 'follower';
  return ORDER.includes(component.name) ? 'standby' : 'none';
};

const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
const inOrder = (a: string, b: string): number => rank(a) - rank(b) || a.localeCompare(b);

/** What hosts of this role run, as their siblings show: a host that is down keeps its rows, so nothing jumps. */
export const expectedComponents = (
  state: Pick<LocalClusterState, 'hosts' | 'topology'>,
  role: HostState['role'],
): readonly string[] => {
  const seen = state.hosts
    .filter((host) => host.role === role)
    .flatMap(({ components }) => components.map(({ name }) => name));
  const usual =
    role === 'control-plane'
      ? ORDER.filter((name) => name !== 'etcd' || state.topology === 'stacked')
      : role === 'etcd'
        ? ['etcd']
        : [];
  return [...new Set([...usual, ...seen])].sort(inOrder);
};

/** An add-on such as kube-dns runs on some hosts; where it never ran, it is not stopped either. */
const runsOn = (host: HostState, name: string): boolean =>
  ORDER.includes(name) || host.components.some((component) => component.name === name);

export const componentRows = (host: HostState, expected: readonly string[]): readonly ComponentRow[] =>
  expected
    .filter((name) => runsOn(host, name))
    .map((name) => {
      const known = host.components.find((component) => component.name === name);
      const isUp = isHostUp(host) || host.phase === 'starting';
      const phase = !isUp
        ? 'away'
        : known && !isAside(known)
          ? known.phase
          : host.phase === 'starting'
            ? 'starting'
            : 'aside';
      return {
        name,
        phase,
        tone: phaseTone(phase),
        role: known && isUp ? roleOf(known) : 'none',
        version: known?.version ?? '',
        restarts: known?.restarts ?? 0,
        message: known?.message ?? undefined,
        heapBytes: isUp ? (known?.heapBytes ?? undefined) : undefined,
        utilization: isUp ? (known?.utilization ?? undefined) : undefined,
      };
    });
