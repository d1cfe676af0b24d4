import type { KubeResource } from '../../core/contract/index.ts';

/** The pages of the resource browser, in the order of the navigation. */
export const categories = [
  'workloads',
  'network',
  'storage',
  'config',
  'access',
  'cluster',
  'custom',
] as const;
export type Category = (typeof categories)[number];

/** Plurals in the order of their tabs. What is in no list goes by its group. */
const ORDER: Readonly<Record<Exclude<Category, 'custom'>, readonly string[]>> = {
  workloads: [
    'pods',
    'deployments',
    'statefulsets',
    'daemonsets',
    'jobs',
    'cronjobs',
    'replicasets',
    'horizontalpodautoscalers',
    'poddisruptionbudgets',
    'replicationcontrollers',
    'podtemplates',
    'controllerrevisions',
  ],
  network: [
    'services',
    'ingresses',
    'endpointslices',
    'networkpolicies',
    'ingressclasses',
    'endpoints',
    'ipaddresses',
    'servicecidrs',
  ],
  storage: [
    'persistentvolumeclaims',
    'persistentvolumes',
    'storageclasses',
    'volumeattachments',
    'csidrivers',
    'csinodes',
    'csistoragecapacities',
    'volumeattributesclasses',
  ],
  config: [
    'configmaps',
    'secrets',
    'resourcequotas',
    'limitranges',
    'priorityclasses',
    'runtimeclasses',
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ],
  access: [
    'serviceaccounts',
    'roles',
    'rolebindings',
    'clusterroles',
    'clusterrolebindings',
    'certificatesigningrequests',
    'clustertrustbundles',
    'podcertificaterequests',
  ],
  cluster: [
    'nodes',
    'namespaces',
    'events',
    'leases',
    'customresourcedefinitions',
    'apiservices',
    'flowschemas',
    'prioritylevelconfigurations',
  ],
};

const placeOf = new Map<string, { readonly category: Category; readonly order: number }>(
  Object.entries(ORDER).flatMap(([category, plurals]) =>
    plurals.map((plural, order) => [plural, { category: category as Category, order }] as const),
  ),
);

/** Groups of Kubernetes itself; everybody else's have another domain. */
export const isBuiltInGroup = (group: string): boolean =>
  !group.includes('.') || (group.endsWith('.k8s.io') && !group.endsWith('.x-k8s.io'));

export const categoryOf = ({ group, plural }: Pick<KubeResource, 'group' | 'plural'>): Category =>
  isBuiltInGroup(group) ? (placeOf.get(plural)?.category ?? 'cluster') : 'custom';

const orderOf = (resource: KubeResource): number => placeOf.get(resource.plural)?.order ?? Infinity;

/**
 * Events live in two groups with one storage: the newer group repeats what the older shows. The figures of the metrics
 * server belong to pods and nodes, and cannot be watched.
 */
const isRepeated = ({ group, plural }: KubeResource): boolean =>
  (plural === 'events' && group === 'events.k8s.io') || group === 'metrics.k8s.io';

/** What can be listed, once a kind, in the version that the server prefers. */
export const browsable = (resources: readonly KubeResource[]): KubeResource[] =>
  resources.filter(
    (resource) => resource.isPreferred && resource.verbs.includes('list') && !isRepeated(resource),
  );

export const resourcesIn = (resources: readonly KubeResource[], category: Category): KubeResource[] =>
  browsable(resources)
    .filter((resource) => categoryOf(resource) === category)
    .sort(
      (a, b) => orderOf(a) - orderOf(b) || a.kind.localeCompare(b.kind) || a.group.localeCompare(b.group),
    );

/** Custom kinds by their group, in the order of the alphabet. */
export const customGroups = (
  resources: readonly KubeResource[],
): { readonly group: string; readonly kinds: readonly KubeResource[] }[] => {
  const custom = resourcesIn(resources, 'custom');
  const groups = [...new Set(custom.map(({ group }) => group))].sort((a, b) => a.localeCompare(b));
  return groups.map((group) => ({ group, kinds: custom.filter((kind) => kind.group === group) }));
};

/** `pods`, `deployments.apps`: as kubectl takes it. */
export const resourceName = ({ group, plural }: Pick<KubeResource, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;

/** Deployments, Ingresses, NetworkPolicies; kinds stay in English, as the API spells them. */
export const pluralKind = (kind: string): string => {
  if (/[^s]s$/.test(kind) && !/(us|is|ss)$/.test(kind)) return kind;
  if (/(s|x|ch|sh)$/.test(kind)) return `${kind}es`;
  return /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}s`;
};

/** Kinds of `apps` and `batch` whose selector is that of their pods, beside pods and what sends traffic to them. */
const WITH_LOGS: Readonly<Record<string, readonly string[]>> = {
  '': ['Pod', 'Service', 'ReplicationController'],
  apps: ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'],
  batch: ['Job'],
};

/** Whether the details of the kind have logs. */
export const hasLogs = ({ group, kind }: Pick<KubeResource, 'group' | 'kind'>): boolean =>
  WITH_LOGS[group]?.includes(kind) ?? false;
