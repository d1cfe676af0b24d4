import type { RoleTable } from './rule-text.ts';

/** What admin, edit and view are made of; each role's name says which one it adds to. */
export const AGGREGATED_ROLES: RoleTable = {
  'system:aggregate-to-admin': [
    'create authorization.k8s.io localsubjectaccessreviews',
    'create,delete,deletecollection,get,list,patch,update,watch rbac.authorization.k8s.io rolebindings,roles',
  ],
  'system:aggregate-to-edit': [
    'read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
    'impersonate core serviceaccounts',
    'write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
    'create core pods/eviction',
    '1.35+ write core configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
    'create core serviceaccounts/token',
    '1.35+ write core,events.k8s.io events',
    'write apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale',
    'write autoscaling horizontalpodautoscalers',
    'write batch cronjobs,jobs',
    'write extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale',
    'write policy poddisruptionbudgets',
    'write networking.k8s.io ingresses,networkpolicies',
    'create,delete,deletecollection,get,list,patch,update,watch coordination.k8s.io leases',
    'write resource.k8s.io resourceclaims,resourceclaimtemplates',
    '<1.35 write core configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
  ],
  'system:aggregate-to-view': [
    'read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status',
    '1.35+ read core bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status',
    'read core namespaces',
    '1.35+ read core,events.k8s.io events',
    'read discovery.k8s.io endpointslices',
    'read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status',
    'read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status',
    'read batch cronjobs,cronjobs/status,jobs,jobs/status',
    'read extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale',
    'read policy poddisruptionbudgets,poddisruptionbudgets/status',
    'read networking.k8s.io ingresses,ingresses/status,networkpolicies',
    'read resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates',
    '<1.35 read core bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status',
  ],
};
