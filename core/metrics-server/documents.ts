import { formatDuration } from '../base/duration.ts';
import { formatTime, notFound, type KubernetesObject } from '../api/meta/index.ts';
import { parseQuantity as parse, Quantity } from '../api/quantity/index.ts';
import type { PodUsage, Usage } from './storage.ts';

export const GROUP = 'metrics.k8s.io';
export const VERSION = 'v1beta1';
const API_VERSION = `${GROUP}/${VERSION}`;

const NANOS = 1_000_000_000n;

const usageText = ({ cpuNanoCores, memoryBytes }: Usage): Record<string, string> => ({
  cpu: new Quantity(BigInt(cpuNanoCores), 'DecimalSI').toString(),
  memory: new Quantity(BigInt(Math.round(memoryBytes)) * NANOS, 'BinarySI').toString(),
});

/** Written when it is asked for; the labels are those of the node or pod, so that selectors work. */
const metadataOf = ({ metadata = {} }: KubernetesObject, nowMs: number): Record<string, unknown> => ({
  name: metadata.name,
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  creationTimestamp: formatTime(nowMs),
  ...(metadata.labels && { labels: metadata.labels }),
});

const windowText = (windowMs: number): string => formatDuration(Math.round(windowMs));

export const nodeMetrics = (node: KubernetesObject, usage: Usage, nowMs: number): KubernetesObject => ({
  kind: 'NodeMetrics',
  apiVersion: API_VERSION,
  metadata: metadataOf(node, nowMs) as KubernetesObject['metadata'] & object,
  timestamp: formatTime(usage.timestampMs),
  window: windowText(usage.windowMs),
  usage: usageText(usage),
});

export const podMetrics = (pod: KubernetesObject, usage: PodUsage, nowMs: number): KubernetesObject => ({
  kind: 'PodMetrics',
  apiVersion: API_VERSION,
  metadata: metadataOf(pod, nowMs) as KubernetesObject['metadata'] & object,
  timestamp: formatTime(usage.timestampMs),
  window: windowText(usage.windowMs),
  containers: usage.containers.map((one) => ({ name: one.name, usage: usageText(one.usage) })),
});

export type Resource = 'nodes' | 'pods';

export const KINDS: Readonly<Record<Resource, string>> = { nodes: 'NodeMetrics', pods: 'PodMetrics' };

export const listOf = (resource: Resource, items: readonly KubernetesObject[]): object => ({
  kind: `${KINDS[resource]}List`,
  apiVersion: API_VERSION,
  metadata: {},
  // As upstream: the items of a list do not repeat their kind.
  items: items.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item),
});

export const missing = (resource: Resource, namespace: string, name: string) =>
  notFound({ group: GROUP, resource }, resource === 'pods' ? `${namespace}/${name}` : name);

const COLUMNS = [
  { name: 'Name', type: 'string', format: 'name', description: 'Name of the resource', priority: 0 },
  { name: 'cpu', type: 'string', format: '', description: 'CPU usage', priority: 0 },
  { name: 'memory', type: 'string', format: '', description: 'Memory usage', priority: 0 },
  { name: 'Window', type: 'string', format: 'duration', description: 'Time of the measurement', priority: 0 },
];

/** Sums of a pod's containers, or the usage of a node. */
const totalsOf = (item: KubernetesObject): [string, string] => {
  const usages = (Array.isArray(item['containers']) ? item['containers'] : [item]) as {
    usage: { cpu: string; memory: string };
  }[];
  const sum = (name: 'cpu' | 'memory'): string =>
    usages
      .map(({ usage }) => parse(usage[name]))
      .reduce((total, one) => total.add(one))
      .canonical();
  return [sum('cpu'), sum('memory')];
};

/** `kubectl get nodes.metrics.k8s.io`. */
export const tableOf = (items: readonly KubernetesObject[]): object => ({
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: {},
  columnDefinitions: COLUMNS,
  rows: items.map((item) => ({
    cells: [item.metadata?.name, ...totalsOf(item), item['window']],
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: item.metadata },
  })),
});

const RESOURCES = (['nodes', 'pods'] as const).map((name) => ({
  name,
  singularName: '',
  namespaced: name === 'pods',
  kind: KINDS[name],
  verbs: ['get', 'list'],
}));

export const RESOURCE_LIST = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: API_VERSION,
  resources: RESOURCES,
};

const groupVersion = { groupVersion: API_VERSION, version: VERSION };
export const API_GROUP = {
  kind: 'APIGroup',
  apiVersion: 'v1',
  name: GROUP,
  versions: [groupVersion],
  preferredVersion: groupVersion,
};
