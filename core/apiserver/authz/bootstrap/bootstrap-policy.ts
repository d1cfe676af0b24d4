import { assert } from '../../../base/assert.ts';
import {
  RBAC_GROUP,
  type Binding,
  type ClusterRole,
  type PolicyRule,
  type Role,
  type Subject,
} from '../rbac/types.ts';
import { AGGREGATED_ROLES } from './aggregated-role-table.ts';
import { CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS, ROLE_OF_BINDING } from './binding-table.ts';
import { CLUSTER_ROLES } from './cluster-role-table.ts';
import { CONTROLLER_ROLES } from './controller-role-table.ts';
import { NAMESPACE_ROLES } from './namespace-role-table.ts';
import {
  OWN_CLUSTER_ROLE_BINDINGS,
  OWN_CLUSTER_ROLES,
  OWN_NAMESPACE_ROLES,
  OWN_VIEW_ROLES,
} from './own-roles.ts';
import { rulesOfRole, type RoleTable } from './rule-text.ts';

const API_VERSION = `${RBAC_GROUP}/v1`;
const ANNOTATIONS = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
/** Of roles and bindings that are no part of upstream's policy. */
export const OWN_LABELS: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'pilothouse' };
const CONTROLLER_PREFIX = 'system:controller:';
const CONTROLLER_NAMESPACE = 'kube-system';

const aggregateLabel = (role: string): Record<string, string> => ({
  [`${RBAC_GROUP}/aggregate-to-${role}`]: 'true',
});

type Typed<T, Kind extends string> = T & { readonly apiVersion: string; readonly kind: Kind };

/** Every object that an API server makes sure exists, with the rules it must at least have. */
export interface BootstrapPolicy {
  readonly clusterRoles: readonly Typed<ClusterRole, 'ClusterRole'>[];
  readonly clusterRoleBindings: readonly Typed<Binding, 'ClusterRoleBinding'>[];
  readonly roles: readonly Typed<Role, 'Role'>[];
  readonly roleBindings: readonly Typed<Binding, 'RoleBinding'>[];
}

const subjectOf = (text: string): Subject => {
  const [kind, name] = text.split(' ') as [string, string];
  if (kind !== 'ServiceAccount') return { apiGroup: RBAC_GROUP, kind, name };
  const [namespace, account] = name.split('/') as [string, string];
  return { kind, name: account, namespace };
};

const splitKey = (key: string): { readonly namespace: string; readonly name: string } => {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

const clusterRole = (
  name: string,
  rules: readonly PolicyRule[] | null,
  labels: Record<string, string> = {},
): Typed<ClusterRole, 'ClusterRole'> => ({
  apiVersion: API_VERSION,
  kind: 'ClusterRole',
  metadata: { annotations: ANNOTATIONS, labels: { ...LABELS, ...labels }, name },
  rules,
});

const fromTable = (
  table: RoleTable,
  minor: number,
  labelsOf: (name: string) => Record<string, string> = () => ({}),
): Typed<ClusterRole, 'ClusterRole'>[] =>
  Object.entries(table).flatMap(([name, lines]) => {
    const rules = rulesOfRole(lines, minor);
    return rules ? [clusterRole(name, rules, labelsOf(name))] : [];
  });

/** admin, edit and view hold no rules of their own: the aggregation controller fills them. */
const gathering = (name: string, addsTo?: string): Typed<ClusterRole, 'ClusterRole'> => ({
  ...clusterRole(name, null, addsTo === undefined ? {} : aggregateLabel(addsTo)),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateLabel(name) }] },
});

const clusterBinding = (
  name: string,
  role: string,
  subjects: readonly string[],
): Typed<Binding, 'ClusterRoleBinding'> => ({
  apiVersion: API_VERSION,
  kind: 'ClusterRoleBinding',
  metadata: { annotations: ANNOTATIONS, labels: { ...LABELS }, name },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
  ...(subjects.length > 0 && { subjects: subjects.map(subjectOf) }),
});

const namespaceRole = (key: string, lines: readonly string[], minor: number): Typed<Role, 'Role'> => ({
  apiVersion: API_VERSION,
  kind: 'Role',
  metadata: { annotations: ANNOTATIONS, labels: { ...LABELS }, ...splitKey(key) },
  rules: rulesOfRole(lines, minor) ?? [],
});

const namespaceBinding = (key: string, subjects: readonly string[]): Typed<Binding, 'RoleBinding'> => {
  const { namespace, name } = splitKey(key);
  return {
    apiVersion: API_VERSION,
    kind: 'RoleBinding',
    metadata: { annotations: ANNOTATIONS, labels: { ...LABELS }, namespace, name },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: ROLE_OF_BINDING[name] ?? name },
    subjects: subjects.map(subjectOf),
  };
};

const own = <T extends { readonly metadata: object }>(
  object: T,
  labels: Readonly<Record<string, string>> = {},
): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: ANNOTATIONS, labels: { ...OWN_LABELS, ...labels } },
});

/** The default policy of a release `1.<minor>`, with our own few roles. */
export const bootstrapPolicy = (minor: number): BootstrapPolicy => {
  const controllers = fromTable(CONTROLLER_ROLES, minor).map((role) => ({
    ...role,
    metadata: { ...role.metadata, name: `${CONTROLLER_PREFIX}${role.metadata.name}` },
  }));
  const controllerBindings = controllers.map(({ metadata: { name } }) =>
    clusterBinding(name, name, [
      `ServiceAccount ${CONTROLLER_NAMESPACE}/${name.slice(CONTROLLER_PREFIX.length)}`,
    ]),
  );
  return {
    clusterRoles: [
      ...fromTable(CLUSTER_ROLES, minor),
      gathering('admin'),
      gathering('edit', 'admin'),
      gathering('view', 'edit'),
      ...fromTable(AGGREGATED_ROLES, minor, (name) =>
        aggregateLabel(name.replace('system:aggregate-to-', '')),
      ),
      ...controllers,
      ...fromTable(OWN_CLUSTER_ROLES, minor).map((role) => own(role)),
      ...fromTable(OWN_VIEW_ROLES, minor).map((role) =>
        own(
          role,
          Object.assign({}, ...['view', 'edit', 'admin'].map(aggregateLabel)) as Record<string, string>,
        ),
      ),
    ],
    clusterRoleBindings: [
      ...Object.entries(CLUSTER_ROLE_BINDINGS).map(([name, subjects]) =>
        clusterBinding(name, name, subjects),
      ),
      ...controllerBindings,
      ...Object.entries(OWN_CLUSTER_ROLE_BINDINGS).map(([name, { role, subjects }]) =>
        own(clusterBinding(name, role, subjects)),
      ),
    ],
    roles: [
      ...Object.entries(NAMESPACE_ROLES).map(([key, lines]) => namespaceRole(key, lines, minor)),
      ...Object.entries(OWN_NAMESPACE_ROLES).map(([key, { rules }]) => own(namespaceRole(key, rules, minor))),
    ],
    roleBindings: [
      ...Object.entries(ROLE_BINDINGS).map(([key, subjects]) => namespaceBinding(key, subjects)),
      ...Object.entries(OWN_NAMESPACE_ROLES).map(([key, { subjects }]) =>
        own(namespaceBinding(key, subjects)),
      ),
    ],
  };
};

/** What the Node authorizer grants every node alike. */
export const nodeRules = (minor: number): readonly PolicyRule[] => {
  const rules = rulesOfRole(CLUSTER_ROLES['system:node'] ?? [], minor);
  assert(rules, 'the policy has a role for nodes');
  return rules;
};
