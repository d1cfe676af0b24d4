import type { ClusterRole, ClusterRoleBinding } from '../../client/index.ts';

const NAME = 'system:cloud-controller-manager';
const RBAC_GROUP = 'rbac.authorization.k8s.io';

/**
 * What the manager itself needs: its lease, its informers, tokens of its controllers' accounts, and reviews of who asks
 * its port. Upstream has no such role in its bootstrap policy: each cloud brings its own.
 */
export const CLOUD_CONTROLLER_MANAGER_ROLE: ClusterRole = {
  metadata: { name: NAME },
  rules: [
    { apiGroups: [''], resources: ['nodes', 'services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['create', 'get', 'list', 'update', 'watch'],
    },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create', 'get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ],
};

export const CLOUD_CONTROLLER_MANAGER_BINDING: ClusterRoleBinding = {
  metadata: { name: NAME },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: NAME },
  subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: NAME }],
};
