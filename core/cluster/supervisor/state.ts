import type { HostRole } from '../config/hosts.ts';
import type { Fault } from '../faults/fault.ts';
import type { LoadBalancerState } from '../load-balancer/index.ts';

export type ClusterPhase = 'starting' | 'ready' | 'stopping' | 'stopped';

/** `killed`: ended by a signal, asked for or not. `failed`: ended by itself. */
export type HostPhase = 'starting' | 'running' | 'paused' | 'stopping' | 'stopped' | 'killed' | 'failed';

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
  readonly heapBytes: number | undefined;
  /** Share of one core. */
  readonly utilization: number | undefined;
}

export interface HostState {
  readonly name: string;
  readonly role: HostRole;
  readonly address: string;
  readonly phase: HostPhase;
  readonly pid: number | undefined;
  readonly rssBytes: number | undefined;
  readonly message: string | undefined;
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
  readonly warnings: readonly string[];
  readonly hosts: readonly HostState[];
  readonly loadBalancer: LoadBalancerState | undefined;
  /** What is broken on purpose. */
  readonly faults: readonly Fault[];
}
