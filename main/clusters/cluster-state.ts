import { planHosts } from '../../core/cluster/config/hosts.ts';
import { loadBalancerAddress } from '../../core/cluster/config/addresses.ts';
import { adminKubeconfigFile } from '../../core/cluster/data-folder/layout.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { ClusterState, HostState as SupervisedHost } from '../../core/cluster/state/cluster-state.ts';
import type { LocalClusterState, Said } from '../../core/contract/index.ts';

type HostView = LocalClusterState['hosts'][number];

/** Who leads what, as `host/component`. */
export type Leaders = ReadonlySet<string>;

export const leaderKey = (host: string, component: string): string => `${host}/${component}`;

export interface StateParts {
  readonly directory: string;
  readonly config: ClusterConfig;
  readonly phase: LocalClusterState['phase'];
  readonly message: Said | undefined;
  /** Undefined while nothing runs. */
  readonly running: ClusterState | undefined;
  readonly leaders: Leaders;
}

const API_SERVER_PORT = 6443;

/** Where the API of a cluster is, which its configuration decides. */
export const endpointOf = ({ spec }: ClusterConfig): string =>
  `https://${loadBalancerAddress({ network: spec.network })}:${API_SERVER_PORT}`;

const orNull = <T>(value: T | undefined): T | null => value ?? null;

const runningHost = (host: SupervisedHost, leaders: Leaders): HostView => ({
  name: host.name,
  role: host.role,
  address: host.address,
  phase: host.phase,
  pid: orNull(host.pid),
  rssBytes: orNull(host.rssBytes),
  message: orNull(host.message),
  restarts: host.restarts,
  lastExit: orNull(host.lastExit),
  nodes: [...host.nodes],
  components: host.components.map((component) => ({
    ...component,
    message: orNull(component.message),
    heapBytes: orNull(component.heapBytes),
    utilization: orNull(component.utilization),
    isLeader: component.phase === 'ready' && leaders.has(leaderKey(host.name, component.name)),
  })),
});

/** The hosts that a start would begin. */
const stoppedHosts = (config: ClusterConfig): HostView[] =>
  planHosts(config).map(({ name, role, address, nodes }) => ({
    name,
    role,
    address,
    phase: 'stopped',
    pid: null,
    rssBytes: null,
    message: null,
    restarts: 0,
    lastExit: null,
    nodes: nodes.map((node) => node.name),
    components: [],
  }));

const loadBalancerOf = ({ loadBalancer }: ClusterState): LocalClusterState['loadBalancer'] =>
  loadBalancer
    ? {
        address: loadBalancer.address,
        port: loadBalancer.port,
        connections: loadBalancer.connections,
        backends: loadBalancer.backends.map(({ name, host, port, healthy, isShuttingDown, connections }) => ({
          name,
          address: `${host}:${port}`,
          isHealthy: healthy,
          isDraining: isShuttingDown,
          connections,
        })),
      }
    : null;

/** What the console is told of a cluster, from what its supervisor knows or, without one, from its configuration. */
export const localState = (parts: StateParts): LocalClusterState => {
  const { config, directory, running, leaders } = parts;
  return {
    phase: parts.phase,
    message: orNull(parts.message),
    name: config.metadata.name,
    directory,
    kubernetesVersion: config.spec.kubernetesVersion,
    topology: config.spec.topology,
    endpoint: endpointOf(config),
    kubeconfigPath: adminKubeconfigFile(directory),
    startedAtMs: orNull(running?.startedAtMs),
    readyAfterMs: orNull(running?.readyAfterMs),
    warnings: [...(running?.warnings ?? [])],
    hosts: running ? running.hosts.map((host) => runningHost(host, leaders)) : stoppedHosts(config),
    loadBalancer: running ? loadBalancerOf(running) : null,
    faults: [...(running?.faults ?? [])],
  };
};
