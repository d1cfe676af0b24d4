import { define } from '../define.ts';
import { ALL_VERBS, PROXY_VERBS, READ_WRITE_VERBS, STREAM_VERBS } from '../resource-type.ts';

const proxyOf = (kind: string) => ({ name: 'proxy', kind, verbs: PROXY_VERBS, connects: true }) as const;
const streamOf = (name: string, kind: string) =>
  ({ name, kind, verbs: STREAM_VERBS, connects: true }) as const;

export const CORE_RESOURCES = define('', 'v1', [
  { kind: 'Binding', plural: 'bindings', verbs: ['create'], prefix: false },
  {
    kind: 'ComponentStatus',
    plural: 'componentstatuses',
    cluster: true,
    short: ['cs'],
    verbs: ['get', 'list'],
    prefix: false,
  },
  { kind: 'ConfigMap', plural: 'configmaps', short: ['cm'] },
  {
    kind: 'Endpoints',
    plural: 'endpoints',
    singular: 'endpoints',
    short: ['ep'],
    prefix: 'services/endpoints',
  },
  { kind: 'Event', plural: 'events', short: ['ev'] },
  { kind: 'LimitRange', plural: 'limitranges', short: ['limits'] },
  {
    kind: 'Namespace',
    plural: 'namespaces',
    cluster: true,
    short: ['ns'],
    // Deleting all namespaces at the same time is not offered upstream either.
    verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
    subresources: [{ name: 'finalize', verbs: ['update'] }],
    status: true,
  },
  {
    kind: 'Node',
    plural: 'nodes',
    cluster: true,
    short: ['no'],
    subresources: [proxyOf('NodeProxyOptions')],
    status: true,
    prefix: 'minions',
  },
  { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', short: ['pvc'], status: true },
  { kind: 'PersistentVolume', plural: 'persistentvolumes', cluster: true, short: ['pv'], status: true },
  {
    kind: 'Pod',
    plural: 'pods',
    short: ['po'],
    categories: ['all'],
    subresources: [
      streamOf('attach', 'PodAttachOptions'),
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      { name: 'ephemeralcontainers', verbs: READ_WRITE_VERBS },
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      streamOf('exec', 'PodExecOptions'),
      { name: 'log', verbs: ['get'] },
      streamOf('portforward', 'PodPortForwardOptions'),
      proxyOf('PodProxyOptions'),
      { name: 'resize', verbs: READ_WRITE_VERBS },
    ],
    status: true,
  },
  { kind: 'PodTemplate', plural: 'podtemplates' },
  {
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    short: ['rc'],
    categories: ['all'],
    scale: true,
    status: true,
    prefix: 'controllers',
  },
  { kind: 'ResourceQuota', plural: 'resourcequotas', short: ['quota'], status: true },
  { kind: 'Secret', plural: 'secrets' },
  {
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    short: ['sa'],
    subresources: [
      {
        name: 'token',
        kind: 'TokenRequest',
        group: 'authentication.k8s.io',
        version: 'v1',
        verbs: ['create'],
      },
    ],
  },
  {
    kind: 'Service',
    plural: 'services',
    short: ['svc'],
    categories: ['all'],
    subresources: [proxyOf('ServiceProxyOptions')],
    status: true,
    prefix: 'services/specs',
  },
]);
