import type { ActiveFault } from '../../contract/index.ts';

export interface HostEvidence {
  readonly name: string;
  readonly phase: string;
  readonly nodes: readonly string[];
  /** `message`: why it ended, in its own words. */
  readonly components: readonly {
    readonly name: string;
    readonly phase: string;
    readonly message?: string;
  }[];
  /** Components that a host of its role has, and those that somebody stopped. */
  readonly expected: readonly string[];
  /** Those of them whose manifests are not in its manifests directory. */
  readonly absent: readonly string[];
}

export interface MemberEvidence {
  readonly name: string;
  readonly isUp: boolean;
  readonly dbBytes: number;
  readonly alarms: readonly string[];
}

export interface LeaseEvidence {
  readonly name: string;
  readonly holder: string;
  readonly renewedAtMs: number;
  readonly durationSeconds: number;
}

export interface WebhookEvidence {
  readonly configuration: string;
  readonly name: string;
  /** `namespace/name`, or the URL. */
  readonly target: string;
  readonly isFailing: boolean;
  readonly failsClosed: boolean;
}

export interface NodeEvidence {
  readonly name: string;
  readonly isReady: boolean;
  readonly reason: string;
  readonly isSchedulable: boolean;
}

export interface WaitingEvidence {
  /** `namespace/name`. */
  readonly pod: string;
  readonly reason: string;
  readonly message: string;
}

/** Each part is null where it could not be collected; `gaps` says why. */
export interface Evidence {
  readonly nowMs: number;
  /** Why the API does not respond; null while it does. */
  readonly apiProblem: string | null;
  /** How far the server's clock is ahead of ours. */
  readonly serverAheadMs: number | null;
  readonly hosts: readonly HostEvidence[] | null;
  readonly faults: readonly ActiveFault[];
  readonly members: readonly MemberEvidence[] | null;
  readonly quotaBytes: number | null;
  /** 99th percentile of a WAL fsync by member. */
  readonly fsyncSeconds: ReadonlyMap<string, number> | null;
  readonly certificates: readonly { readonly name: string; readonly notAfterMs: number }[] | null;
  readonly nodes: readonly NodeEvidence[] | null;
  readonly leases: readonly LeaseEvidence[] | null;
  readonly webhooks: readonly WebhookEvidence[] | null;
  /** Pods without a node. */
  readonly pending:
    readonly { readonly pod: string; readonly message: string; readonly ageMs: number }[] | null;
  /** Containers that wait for something that does not come, such as an image. */
  readonly waiting: readonly WaitingEvidence[] | null;
  /** Default ClusterRoleBindings of components that do not exist. */
  readonly missingBindings: readonly string[] | null;
  readonly gaps: readonly string[];
}
