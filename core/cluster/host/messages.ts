import type { HostPlan } from '../config/hosts.ts';

/** What a host needs to know; everything else is in the data folder. */
export interface HostStart {
  readonly dataDirectory: string;
  readonly host: HostPlan;
  readonly network: number;
  readonly kubernetesVersion: string;
  /** Of the first of its nodes, among all nodes of the cluster: it decides their pod ranges. */
  readonly firstNodeIndex: number;
  readonly nodeCount: number;
}

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
  /** Everything but etcd has ended. */
  | { readonly kind: 'drained' }
  | {
      readonly kind: 'report';
      readonly id: number;
      readonly rssBytes: number;
      readonly components: readonly ComponentUsage[];
    };

export type ToHost =
  | { readonly kind: 'start'; readonly start: HostStart }
  /** Ends all components in order; etcd only after `finish`, so that API servers elsewhere can still write. */
  | { readonly kind: 'stop'; readonly graceMs: number }
  | { readonly kind: 'finish' }
  /** As `kill -9`: the kubelet starts it again. */
  | { readonly kind: 'kill-component'; readonly component: string }
  | { readonly kind: 'report'; readonly id: number };
