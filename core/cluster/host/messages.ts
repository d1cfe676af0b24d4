import type { HostPlan } from '../config/hosts.ts';
import type { LinkRule } from '../faults/link-gate.ts';

/** The network of a cluster as a machine finds it that has joined. */
export interface JoinedNetwork {
  /** Of the one node of this machine. */
  readonly podCIDR: string;
  /** Of all pods and of Services. */
  readonly podRange: string;
  readonly serviceRange: string;
  /** The first address of Services: the API server's. */
  readonly kubernetesService: string;
  /** The name server in the pods' resolv.conf. */
  readonly dnsAddress: string;
  readonly clusterDomain: string;
  /** Where the machine of the control plane reaches pods of its own. */
  readonly gateway: string;
  /** Whether pods of other machines are reached by routes. */
  readonly isRouted: boolean;
}

/** What a host needs to know; everything else is in the data folder. */
export interface HostStart {
  readonly dataDirectory: string;
  readonly host: HostPlan;
  readonly network: number;
  readonly runtime: 'simulated' | 'cri';
  /** Nodes for pods of users that share this machine. */
  readonly machineNodes: number;
  /** With `cri`: of container runtimes, which the nodes take in turn. */
  readonly runtimeEndpoints: readonly string[];
  readonly kubernetesVersion: string;
  /** Nodes whose kubelets are of another release, in the middle of an upgrade. */
  readonly nodeVersions: Readonly<Record<string, string>>;
  /** Of the first of its nodes, among all nodes of the cluster: it decides their pod ranges. */
  readonly firstNodeIndex: number;
  readonly nodeCount: number;
  /** Addresses of the hosts that run the cluster's DNS. */
  readonly dnsServers: readonly string[];
  /** A machine that has joined a cluster which runs elsewhere. */
  readonly joined?: JoinedNetwork;
  /** Machines may join, and their pods are reached by routes. */
  readonly isAdvertised?: boolean;
}

/** What is broken intentionally on one host, as its threads are told. */
export interface HostFaults {
  readonly links: readonly LinkRule[];
  readonly syncDelayMs: number;
  readonly clockOffsetMs: number;
}

export const NO_FAULTS: HostFaults = { links: [], syncDelayMs: 0, clockOffsetMs: 0 };

/**
 * The order in which a cluster ends, over all its hosts: managers give their leases up while there is an API, API servers
 * finish their requests while there is an etcd.
 */
export const STOP_STAGES = ['managers', 'api-servers', 'etcd'] as const;
export type StopStage = (typeof STOP_STAGES)[number];

export const stopStageOf = (component: string): StopStage =>
  component === 'etcd' ? 'etcd' : component === 'kube-apiserver' ? 'api-servers' : 'managers';

export type ComponentPhase = 'starting' | 'ready' | 'stopping' | 'exited';

export interface ComponentUsage {
  readonly component: string;
  readonly heapBytes: number;
  /** Share of one core since the report before. */
  readonly utilization: number;
}

export type FromHost =
  | { readonly kind: 'started' }
  /** It cannot be a host at all; the process ends. */
  | { readonly kind: 'failed'; readonly message: string }
  | {
      readonly kind: 'component';
      readonly component: string;
      readonly phase: ComponentPhase;
      readonly version: string;
      /** Why it ended, if not because it was asked to. */
      readonly message?: string;
      /** It ended because it rejects its configuration. */
      readonly isRejected?: boolean;
    }
  /** Every component of this stage of an orderly end, and of those before it, has ended. */
  | { readonly kind: 'drained'; readonly stage: StopStage }
  | {
      readonly kind: 'report';
      readonly id: number;
      readonly rssBytes: number;
      readonly components: readonly ComponentUsage[];
    };

export type ToHost =
  | { readonly kind: 'start'; readonly start: HostStart }
  /** Begins an orderly end: the components of the first stage end immediately, the others when their stage comes. */
  | { readonly kind: 'stop'; readonly graceMs: number }
  | { readonly kind: 'stage'; readonly stage: StopStage }
  /** As `kill -9`: the kubelet starts it again. */
  | { readonly kind: 'kill-component'; readonly component: string }
  /** The kubelet of one node becomes another release; its containers continue. */
  | { readonly kind: 'node-version'; readonly node: string; readonly version: string }
  /** Replaces the previous ones. */
  | { readonly kind: 'faults'; readonly faults: HostFaults }
  | { readonly kind: 'report'; readonly id: number };
