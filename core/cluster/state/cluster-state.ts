import type { HostPhase } from '../operation/host-phase.ts';
import type { HostRole } from '../config/hosts.ts';
import type { Said } from '../../contract/index.ts';
import type { Fault } from '../faults/fault.ts';
import type { LoadBalancerState } from '../load-balancer/load-balancer.ts';

export type ClusterPhase = 'starting' | 'ready' | 'stopping' | 'stopped';

export interface ComponentState {
  readonly name: string;
  /** `serving` is not ready yet: an API server fills its caches, a member of etcd looks for its leader. */
  readonly phase: 'starting' | 'serving' | 'ready' | 'stopping' | 'exited';
  readonly version: string;
  /** How often it was started again since its host was. */
  readonly restarts: number;
  /** Since the cluster was started. */
  readonly changedMs: number;
  /** Why it ended. */
  readonly message: string | undefined;
  /** It ended because it rejects its configuration: starting it again gives the same. */
  readonly isRejected: boolean;
  readonly heapBytes: number | undefined;
  /** Share of one core. */
  readonly utilization: number | undefined;
}

/** An exit of a host that no one asked for. */
export interface HostExit {
  /** `terminated by SIGKILL`. */
  readonly reason: Said;
  readonly atMs: number;
  /** It exited too often in a row, and stays down until a person starts it. */
  readonly isGivenUp: boolean;
}

export interface HostState {
  readonly name: string;
  readonly role: HostRole;
  readonly address: string;
  readonly phase: HostPhase;
  readonly pid: number | undefined;
  readonly rssBytes: number | undefined;
  readonly message: Said | undefined;
  /** The signal that ended its process; undefined while it runs, and for one that exited. */
  readonly exitSignal: string | undefined;
  /** It is down, or ending, because somebody wanted it. */
  readonly isEndWanted: boolean;
  /** How often it was restarted after an unexpected exit, since the cluster was started. */
  readonly restarts: number;
  readonly lastExit: HostExit | undefined;
  readonly nodes: readonly string[];
  readonly components: readonly ComponentState[];
}

/** The whole cluster as its supervisor sees it. */
export interface ClusterState {
  readonly phase: ClusterPhase;
  readonly kubernetesVersion: string;
  readonly startedAtMs: number;
  /** How long the start took; undefined until it is done. */
  readonly readyAfterMs: number | undefined;
  readonly endpoint: string;
  /** What was missing when the start was over, and does not keep the cluster from serving. */
  readonly warnings: readonly Said[];
  readonly hosts: readonly HostState[];
  readonly loadBalancer: LoadBalancerState | undefined;
  /** What is broken intentionally. */
  readonly faults: readonly Fault[];
}
