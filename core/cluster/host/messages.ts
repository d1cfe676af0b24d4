import type { HostPlan } from '../config/hosts.ts';
import type { LinkRule } from '../faults/link-gate.ts';

/** What a host needs to know; everything else is in the data folder. */
export interface HostStart {
  readonly dataDirectory: string;
  readonly host: HostPlan;
  readonly network: number;
  readonly kubernetesVersion: string;
  /** Nodes whose kubelets are of another release, in the middle of an upgrade. */
  readonly nodeVersions: Readonly<Record<string, string>>;
  /** Of the first of its nodes, among all nodes of the cluster: it decides their pod ranges. */
  readonly firstNodeIndex: number;
  readonly nodeCount: number;
  /** Addresses of the hosts that run the cluster's DNS. */
  readonly dnsServers: readonly string[];
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
