import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import {
  hasStatusReason,
  isNotFound,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { OWN_CLUSTER_ROLES, RETIRED_CLUSTER_ROLE_BINDINGS } from '../authz/bootstrap/own-roles.ts';
import { bootstrapPolicy, OWN_LABELS } from '../authz/bootstrap/bootstrap-policy.ts';
import { RBAC_GROUP, type Binding, type ClusterRole } from '../authz/rbac/types.ts';
import { ensureObject, forEachOf } from './ensure.ts';
import { listedReads } from './listed-reads.ts';
import type { ObjectWriter } from './object-writer.ts';
import { isProtected, reconciledBinding, reconciledRole, refersElsewhere } from './rbac-reconciliation.ts';

/** Some two hundred objects: one after another they would make up most of the time that a server takes to start. */
const AT_ONCE_MAX = 16;

const resource = (plural: string): GroupResource => ({ group: RBAC_GROUP, resource: plural });

const RESOURCES = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(resource);

/** A release may take rights from a role of our own; of upstream's roles people's additions stay, as upstream has it. */
const isOwnRole = (plural: string, { metadata }: ClusterRole): boolean =>
  plural === 'clusterroles' && Object.hasOwn(OWN_CLUSTER_ROLES, metadata.name ?? '');

const ensureRole = async (writer: ObjectWriter, plural: string, role: ClusterRole): Promise<void> => {
  await ensureObject(writer, resource(plural), {
    object: role as ClusterRole & KubernetesObject,
    revise: (stored) =>
      reconciledRole(stored as ClusterRole & KubernetesObject, role, {
        removesExtra: isOwnRole(plural, role),
      }),
  });
};

const deleteBinding = async (
  writer: ObjectWriter,
  of: GroupResource,
  { metadata }: KubernetesObject,
): Promise<void> => {
  try {
    await writer.delete(of, metadata?.namespace ?? '', metadata?.name ?? '', metadata?.uid);
  } catch (error) {
    // Another server was first, or has already recreated it.
    if (!isNotFound(error) && !hasStatusReason(error, 'Conflict')) throw error;
  }
};

/** Only what an earlier release made itself: a person may use the name for something else. */
const retireBinding = async (writer: ObjectWriter, name: string): Promise<void> => {
  const of = resource('clusterrolebindings');
  const stored = (await writer.get(of, '', name)) as (Binding & KubernetesObject) | undefined;
  if (!stored || isProtected(stored)) return;
  const isOwn = Object.entries(OWN_LABELS).every(([key, value]) => stored.metadata.labels?.[key] === value);
  if (isOwn) await deleteBinding(writer, of, stored);
};

const ensureBinding = async (writer: ObjectWriter, plural: string, binding: Binding): Promise<void> => {
  const of = resource(plural);
  const { namespace = '', name = '' } = binding.metadata;
  const stored = (await writer.get(of, namespace, name)) as (Binding & KubernetesObject) | undefined;
  if (stored && refersElsewhere(stored, binding) && !isProtected(stored))
    await deleteBinding(writer, of, stored);
  await ensureObject(writer, of, {
    object: binding as Binding & KubernetesObject,
    revise: (now) => reconciledBinding(now as Binding & KubernetesObject, binding),
  });
};

/**
 * Creates the default roles and bindings of release `1.<minor>` and adds to those that lack something; our own
 * roles get exactly their rules. Does as many as it can; false when some failed.
 */
export const ensureRbacPolicy = async (onStore: ObjectWriter, minor: number, log: Log): Promise<boolean> => {
  const policy = bootstrapPolicy(minor);
  const writer = await listedReads(onStore, RESOURCES);
  const work: readonly (() => Promise<void>)[] = [
    ...policy.clusterRoles.map((role) => () => ensureRole(writer, 'clusterroles', role)),
    ...policy.clusterRoleBindings.map((one) => () => ensureBinding(writer, 'clusterrolebindings', one)),
    ...policy.roles.map((role) => () => ensureRole(writer, 'roles', role)),
    ...policy.roleBindings.map((one) => () => ensureBinding(writer, 'rolebindings', one)),
    ...RETIRED_CLUSTER_ROLE_BINDINGS.map((name) => () => retireBinding(writer, name)),
  ];
  let complete = true;
  await forEachOf(work, AT_ONCE_MAX, async (ensure) => {
    try {
      await ensure();
    } catch (error) {
      complete = false;
      log.write('warn', 'a default role or binding could not be reconciled', { error: messageOf(error) });
    }
  });
  return complete;
};

/** What kubeadm makes so that its admin.conf is an ordinary user: cluster-admin, and revocable. */
export const ensureClusterAdminsBinding = (writer: ObjectWriter): Promise<unknown> =>
  ensureObject(writer, resource('clusterrolebindings'), {
    object: {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kubeadm:cluster-admins' },
      roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: RBAC_GROUP, kind: 'Group', name: 'kubeadm:cluster-admins' }],
    },
  });
