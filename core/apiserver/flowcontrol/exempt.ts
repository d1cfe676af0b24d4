import { isPrivileged, NODES_GROUP, type UserInfo } from '../server/user.ts';
import type { RequestContext } from '../server/context.ts';

/** As upstream's FlowSchema `probes`. */
const HEALTH_PATHS = /^\/(livez|readyz|healthz)(\/|$)/;

/** Subjects of upstream's FlowSchemas `system-leader-election`, `system-node-high` and `kube-controller-manager` ff. */
const CONTROL_PLANE_USERS = new Set([
  'system:apiserver',
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:cloud-controller-manager',
  'system:kube-proxy',
]);
const CONTROL_PLANE_GROUPS = new Set([NODES_GROUP, 'system:serviceaccounts:kube-system']);

/** Anyone who must get through for the cluster to stay up when others ask for more than this server can do. */
const isControlPlane = (user: UserInfo | undefined): boolean =>
  user !== undefined &&
  (CONTROL_PLANE_USERS.has(user.name) || user.groups.some((group) => CONTROL_PLANE_GROUPS.has(group)));

/**
 * Which limits a request is exempt from: health checks and break-glass credentials from all of them (`full`), the
 * control plane's own requests from the one that all share; what one identity may hold bounds those too.
 */
export type Exemption = 'full' | 'shared' | 'none';

export const exemptionOf = ({ info, user }: RequestContext): Exemption => {
  if (!info.isResourceRequest && HEALTH_PATHS.test(info.path)) return 'full';
  if (isPrivileged(user)) return 'full';
  return isControlPlane(user) ? 'shared' : 'none';
};
