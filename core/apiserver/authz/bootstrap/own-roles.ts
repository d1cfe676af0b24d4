import type { RoleTable } from './rule-text.ts';

/** Roles that are Pilothouse's own and no part of upstream's policy. */
export const OWN_CLUSTER_ROLES: RoleTable = {
  // What the console watches on its own, with no one's hand on it: everything but the content of Secrets, and no write. What
  // a person does in it is done with the person's own credentials.
  'pilothouse:console': [
    'read core bindings,componentstatuses,configmaps,endpoints,events,limitranges,namespaces,nodes,persistentvolumeclaims,persistentvolumes,pods,pods/log,pods/status,podtemplates,replicationcontrollers,resourcequotas,serviceaccounts,services',
    'read admissionregistration.k8s.io,apiextensions.k8s.io,apiregistration.k8s.io,apps,autoscaling,batch,certificates.k8s.io,coordination.k8s.io,discovery.k8s.io,events.k8s.io,flowcontrol.apiserver.k8s.io,networking.k8s.io,node.k8s.io,policy,rbac.authorization.k8s.io,resource.k8s.io,scheduling.k8s.io,storage.k8s.io *',
    'read metrics.k8s.io nodes,pods',
    'create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews',
    'create authentication.k8s.io selfsubjectreviews',
    'get core nodes/metrics,nodes/stats',
    'post /debug/what-if',
    'get /api,/api/*,/apis,/apis/*,/debug/controllers,/debug/explanations,/debug/traces,/healthz,/healthz/*,/livez,/livez/*,/metrics,/openapi,/openapi/*,/readyz,/readyz/*,/version,/version/',
  ],
  // The cluster's DNS answers from Services and their endpoints; namespaces tell which names exist and have no record.
  'pilothouse:kube-dns': [
    'list,watch core namespaces,services',
    'list,watch discovery.k8s.io endpointslices',
  ],
  // Hosts decide about connections of pods by policies, labels, and what is behind Services; other machines judge for themselves.
  'pilothouse:network-policy': [
    'list,watch networking.k8s.io networkpolicies',
    'list,watch core namespaces,nodes,pods,services',
    'list,watch discovery.k8s.io endpointslices',
  ],
  // The metrics server reads the figures of kubelets, and nothing else of them.
  'pilothouse:metrics-server': ['get core nodes/metrics'],
  // What publishes it: one APIService, and questions about who may read metrics.
  'pilothouse:metrics-server-controller': [
    'create apiregistration.k8s.io apiservices',
    'get,update apiregistration.k8s.io apiservices v1beta1.metrics.k8s.io',
    'create authorization.k8s.io subjectaccessreviews',
    'create,patch,update core,events.k8s.io events',
  ],
};

/** Added to view, edit and admin, as upstream's metrics-server does. */
export const OWN_VIEW_ROLES: RoleTable = {
  'system:aggregated-metrics-reader': ['read metrics.k8s.io nodes,pods'],
};

/** Roles by `namespace/name`, bound to the subjects. */
export const OWN_NAMESPACE_ROLES: Readonly<
  Record<string, { readonly rules: readonly string[]; readonly subjects: readonly string[] }>
> = {
  'kube-system/pilothouse:metrics-server-controller': {
    rules: [
      'create core services',
      'get,update core services metrics-server',
      'create discovery.k8s.io endpointslices',
      'get,update discovery.k8s.io endpointslices metrics-server',
    ],
    subjects: ['ServiceAccount kube-system/metrics-server-controller'],
  },
};

/** Cluster role bindings by name: the role and the subjects. */
export const OWN_CLUSTER_ROLE_BINDINGS: Readonly<
  Record<string, { readonly role: string; readonly subjects: readonly string[] }>
> = {
  // As kubeadm makes it: admin.conf is in this group, so that its rights can be taken away again.
  'kubeadm:cluster-admins': { role: 'cluster-admin', subjects: ['Group kubeadm:cluster-admins'] },
  'pilothouse:console': { role: 'pilothouse:console', subjects: ['Group pilothouse:console'] },
  'pilothouse:kube-dns': { role: 'pilothouse:kube-dns', subjects: ['User system:kube-dns'] },
  'pilothouse:network-policy': {
    role: 'pilothouse:network-policy',
    subjects: ['User system:network-policy'],
  },
  'pilothouse:metrics-server': {
    role: 'pilothouse:metrics-server',
    subjects: ['User system:metrics-server'],
  },
  'pilothouse:metrics-server-controller': {
    role: 'pilothouse:metrics-server-controller',
    subjects: ['ServiceAccount kube-system/metrics-server-controller'],
  },
};

/**
 * Cluster role bindings of earlier releases that must not come back, also not with a snapshot of that time: one let the
 * kubelets of all workers share an identity with every right of `system:node`, past the Node authorizer.
 */
export const RETIRED_CLUSTER_ROLE_BINDINGS: readonly string[] = ['pilothouse:kubelets'];
