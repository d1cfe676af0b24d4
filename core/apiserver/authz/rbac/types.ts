import type { ObjectMeta } from '../../../api/meta/index.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Objects of rbac.authorization.k8s.io/v1, as they travel on the wire. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleRef {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export interface LabelSelectorTerm {
  readonly matchLabels?: Readonly<Record<string, string>>;
}

export interface Role {
  readonly metadata: ObjectMeta;
  readonly rules?: readonly PolicyRule[] | null;
}

export interface ClusterRole extends Role {
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelectorTerm[] };
}

export interface Binding {
  readonly metadata: ObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | null;
}

export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';
