import type { ControllerView, KubeResource, QueueFigures } from '../../../core/contract/index.ts';

/** What fails or falls behind first, then by name. */
export const byNeed = (controllers: readonly ControllerView[]): ControllerView[] => {
  const rank = ({ failing, phase }: ControllerView): number =>
    failing.length > 0 || phase === 'restarting' ? 0 : phase === 'syncing' ? 1 : 2;
  return [...controllers].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
};

/** All queues of a controller together; most have one. */
export const totalOf = ({ queues }: ControllerView): Omit<QueueFigures, 'name'> =>
  queues.reduce(
    (sum, queue) => ({
      depth: sum.depth + queue.depth,
      adds: sum.adds + queue.adds,
      retries: sum.retries + queue.retries,
      longestRunningSeconds: Math.max(sum.longestRunningSeconds, queue.longestRunningSeconds),
      unfinishedSeconds: sum.unfinishedSeconds + queue.unfinishedSeconds,
    }),
    { depth: 0, adds: 0, retries: 0, longestRunningSeconds: 0, unfinishedSeconds: 0 },
  );

/** The kind whose objects a controller queues; undefined where its keys are no names of objects. */
const KINDS: Readonly<Record<string, string>> = {
  'deployment-controller': 'deployments',
  'replicaset-controller': 'replicasets',
  'statefulset-controller': 'statefulsets',
  'daemonset-controller': 'daemonsets',
  'job-controller': 'jobs',
  'cronjob-controller': 'cronjobs',
  'endpoints-controller': 'services',
  'endpointslice-controller': 'services',
  'namespace-controller': 'namespaces',
  'resourcequota-controller': 'resourcequotas',
  'horizontal-pod-autoscaler-controller': 'horizontalpodautoscalers',
  'disruption-controller': 'poddisruptionbudgets',
  'persistentvolumeclaim-protection-controller': 'persistentvolumeclaims',
  'persistentvolume-protection-controller': 'persistentvolumes',
  'certificatesigningrequest-signing-controller': 'certificatesigningrequests',
  'certificatesigningrequest-approving-controller': 'certificatesigningrequests',
  'service-lb-controller': 'services',
};

/** Where the object of a key is shown. */
export const objectOf = (
  controller: string,
  key: string,
  resources: readonly KubeResource[],
): { readonly resource: KubeResource; readonly namespace: string; readonly name: string } | undefined => {
  const resource = resources.find(({ plural, isPreferred }) => plural === KINDS[controller] && isPreferred);
  const parts = key.split('/');
  if (!resource || parts.length > 2) return undefined;
  const [namespace, name] = parts.length === 2 ? parts : ['', key];
  return { resource, namespace: namespace ?? '', name: name ?? '' };
};
