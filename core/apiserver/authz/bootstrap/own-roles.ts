import type { RoleTable } from './rule-text.ts';

/** Roles that are Pilothouse's own and no part of upstream's policy. */
export const OWN_CLUSTER_ROLES: RoleTable = {
  // The console shows everything but the content of secrets. What an operator does with it, it does under
  // the operator's own credentials; these few writes are its upkeep of nodes and workloads.
  'pilothouse:console': [
    'read core bindings,componentstatuses,configmaps,endpoints,events,limitranges,namespaces,nodes,persistentvolumeclaims,persistentvolumes,pods,pods/log,pods/status,podtemplates,replicationcontrollers,resourcequotas,serviceaccounts,services',
    'read admissionregistration.k8s.io,apiextensions.k8s.io,apiregistration.k8s.io,apps,autoscaling,batch,certificates.k8s.io,coordination.k8s.io,discovery.k8s.io,events.k8s.io,flowcontrol.apiserver.k8s.io,networking.k8s.io,node.k8s.io,policy,rbac.authorization.k8s.io,resource.k8s.io,scheduling.k8s.io,storage.k8s.io *',
    'read metrics.k8s.io nodes,pods',
    'create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews',
    'create authentication.k8s.io selfsubjectreviews',
    'patch core nodes',
    'create core pods/eviction',
    'patch,update apps deployments/scale,replicasets/scale,statefulsets/scale',
    'get /api,/api/*,/apis,/apis/*,/healthz,/healthz/*,/livez,/livez/*,/metrics,/openapi,/openapi/*,/readyz,/readyz/*,/version,/version/',
  ],
};

/** Cluster role bindings by name: the role and the subjects. */
export const OWN_CLUSTER_ROLE_BINDINGS: Readonly<
  Record<string, { readonly role: string; readonly subjects: readonly string[] }>
> = {
  // As kubeadm makes it: admin.conf is in this group, so that its rights can be taken away again.
  'kubeadm:cluster-admins': { role: 'cluster-admin', subjects: ['Group kubeadm:cluster-admins'] },
  'pilothouse:console': { role: 'pilothouse:console', subjects: ['Group pilothouse:console'] },
  // One process that speaks for many nodes cannot be known to the node authorizer, which knows one node a user.
  'pilothouse:kubelets': { role: 'system:node', subjects: ['Group pilothouse:kubelets'] },
};
