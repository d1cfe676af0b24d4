import { define } from '../define.ts';

const ALL = ['all'] as const;

export const WORKLOAD_RESOURCES = [
  ...define('apps', 'v1', [
    { kind: 'ControllerRevision', plural: 'controllerrevisions' },
    { kind: 'DaemonSet', plural: 'daemonsets', short: ['ds'], categories: ALL, status: true },
    {
      kind: 'Deployment',
      plural: 'deployments',
      short: ['deploy'],
      categories: ALL,
      scale: true,
      status: true,
    },
    { kind: 'ReplicaSet', plural: 'replicasets', short: ['rs'], categories: ALL, scale: true, status: true },
    {
      kind: 'StatefulSet',
      plural: 'statefulsets',
      short: ['sts'],
      categories: ALL,
      scale: true,
      status: true,
    },
  ]),
  // The newer version first: it is the one preferred, and the one kept.
  ...define('autoscaling', 'v2', [
    {
      kind: 'HorizontalPodAutoscaler',
      plural: 'horizontalpodautoscalers',
      short: ['hpa'],
      categories: ALL,
      status: true,
    },
  ]),
  ...define('autoscaling', 'v1', [
    {
      kind: 'HorizontalPodAutoscaler',
      plural: 'horizontalpodautoscalers',
      short: ['hpa'],
      categories: ALL,
      status: true,
      storedAs: { group: 'autoscaling', version: 'v2' },
    },
  ]),
  ...define('batch', 'v1', [
    { kind: 'CronJob', plural: 'cronjobs', short: ['cj'], categories: ALL, status: true },
    { kind: 'Job', plural: 'jobs', categories: ALL, status: true },
  ]),
  ...define('policy', 'v1', [
    { kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', short: ['pdb'], status: true },
  ]),
  ...define('scheduling.k8s.io', 'v1', [
    { kind: 'PriorityClass', plural: 'priorityclasses', cluster: true, short: ['pc'] },
  ]),
  ...define('node.k8s.io', 'v1', [{ kind: 'RuntimeClass', plural: 'runtimeclasses', cluster: true }]),
];
