/** Every kind that is read for a graph. */
export const GRAPH_KINDS = {
  Pod: { group: '', version: 'v1', plural: 'pods', namespaced: true },
  Service: { group: '', version: 'v1', plural: 'services', namespaced: true },
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps', namespaced: true },
  Secret: { group: '', version: 'v1', plural: 'secrets', namespaced: true },
  ServiceAccount: { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true },
  PersistentVolumeClaim: { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespaced: true },
  ResourceQuota: { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true },
  Deployment: { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true },
  ReplicaSet: { group: 'apps', version: 'v1', plural: 'replicasets', namespaced: true },
  StatefulSet: { group: 'apps', version: 'v1', plural: 'statefulsets', namespaced: true },
  DaemonSet: { group: 'apps', version: 'v1', plural: 'daemonsets', namespaced: true },
  Job: { group: 'batch', version: 'v1', plural: 'jobs', namespaced: true },
  CronJob: { group: 'batch', version: 'v1', plural: 'cronjobs', namespaced: true },
  EndpointSlice: { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespaced: true },
  Ingress: { group: 'networking.k8s.io', version: 'v1', plural: 'ingresses', namespaced: true },
  NetworkPolicy: { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies', namespaced: true },
  HorizontalPodAutoscaler: {
    group: 'autoscaling',
    version: 'v2',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
  },
  PodDisruptionBudget: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true },
  Role: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', namespaced: true },
  RoleBinding: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'rolebindings',
    namespaced: true,
  },
  ClusterRole: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterroles',
    namespaced: false,
  },
  ClusterRoleBinding: {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterrolebindings',
    namespaced: false,
  },
  Node: { group: '', version: 'v1', plural: 'nodes', namespaced: false },
  PersistentVolume: { group: '', version: 'v1', plural: 'persistentvolumes', namespaced: false },
  StorageClass: { group: 'storage.k8s.io', version: 'v1', plural: 'storageclasses', namespaced: false },
  IngressClass: { group: 'networking.k8s.io', version: 'v1', plural: 'ingressclasses', namespaced: false },
} as const;

export type GraphKind = keyof typeof GRAPH_KINDS;
export const GRAPH_KIND_NAMES = Object.keys(GRAPH_KINDS) as readonly GraphKind[];
export const isGraphKind = (kind: string): kind is GraphKind => Object.hasOwn(GRAPH_KINDS, kind);

/** `deployment`, `deploy`, `deployments.apps`, `Deployment`: as kubectl takes kinds. */
const SHORT: Readonly<Record<string, GraphKind>> = {
  po: 'Pod',
  svc: 'Service',
  cm: 'ConfigMap',
  sa: 'ServiceAccount',
  pvc: 'PersistentVolumeClaim',
  quota: 'ResourceQuota',
  deploy: 'Deployment',
  rs: 'ReplicaSet',
  sts: 'StatefulSet',
  ds: 'DaemonSet',
  cj: 'CronJob',
  ing: 'Ingress',
  netpol: 'NetworkPolicy',
  hpa: 'HorizontalPodAutoscaler',
  pdb: 'PodDisruptionBudget',
  no: 'Node',
  pv: 'PersistentVolume',
  sc: 'StorageClass',
};

export const graphKindOf = (word: string): GraphKind | undefined => {
  const small = word.toLowerCase().split('.')[0] ?? '';
  if (Object.hasOwn(SHORT, small)) return SHORT[small];
  return GRAPH_KIND_NAMES.find((kind) => kind.toLowerCase() === small || GRAPH_KINDS[kind].plural === small);
};
