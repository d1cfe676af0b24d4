import type { HostPhase } from '../operation/host-phase.ts';
import type { Fault } from './fault.ts';

/** What a preview is computed from: the cluster as it is now. */
export interface ActionFacts {
  readonly hosts: readonly {
    readonly name: string;
    readonly role: 'control-plane' | 'etcd' | 'workers';
    readonly phase: HostPhase;
    readonly nodes: readonly string[];
    /** Components that are ready. */
    readonly ready: readonly string[];
  }[];
  readonly members: readonly {
    readonly id: string;
    readonly name: string;
    /** Empty where the member is not ours. */
    readonly host: string;
    readonly isLearner: boolean;
    readonly isLeader: boolean;
    /** It answers. */
    readonly isHealthy: boolean;
  }[];
  /** Names of leases and the host of their holder. */
  readonly leases: readonly { readonly name: string; readonly host: string }[];
  /** Pods by the node they run on. */
  readonly podsByNode: Readonly<Record<string, number>>;
  /** What is broken intentionally already. */
  readonly faults: readonly Fault[];
}
