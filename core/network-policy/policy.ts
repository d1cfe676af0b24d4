import type { V1NetworkPolicy } from '../api/schema/index.ts';
import type { Labels } from '../api/selector/index.ts';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type Direction = 'Ingress' | 'Egress';

/** A pod as policies see it. Pods in the network of their host are none: they have its address. */
export interface PolicyPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly ports: readonly {
    readonly name: string;
    readonly containerPort: number;
    readonly protocol: Protocol;
  }[];
  /** The address of its node, which no policy keeps from it. */
  readonly hostIP: string;
}

/** One end of a connection. Without a pod: a node, or something outside of the cluster. */
export interface PolicyEnd {
  readonly address: string;
  readonly pod?: PolicyPod | undefined;
}

export interface Connection {
  readonly from: PolicyEnd;
  readonly to: PolicyEnd;
  readonly protocol: Protocol;
  readonly port: number;
  /** The port of the Service through which it goes: a rule that names either port means it. */
  readonly servicePort?: number | undefined;
}

export interface PolicySource {
  policiesOf(namespace: string): readonly V1NetworkPolicy[];
  /** Undefined: there is no such namespace. */
  namespaceLabels(namespace: string): Labels | undefined;
}

export interface SideVerdict {
  readonly direction: Direction;
  readonly isAllowed: boolean;
  /** Policies that select the pod in this direction, as `namespace/name`. None: it is not isolated. */
  readonly isolating: readonly string[];
  /** The policy whose rule allows it, and the number of the rule; undefined: none does, or none is needed. */
  readonly allowedBy: { readonly policy: string; readonly rule: number } | undefined;
}

export interface PolicyVerdict {
  readonly isAllowed: boolean;
  /** Of the pod that connects. */
  readonly egress: SideVerdict;
  /** Of the pod that is connected to. */
  readonly ingress: SideVerdict;
  /** Why policies are not asked at all. */
  readonly exemption: 'same-pod' | 'node' | undefined;
}
