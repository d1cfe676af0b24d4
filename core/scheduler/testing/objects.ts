import type { Node, Pod, PodSpec, PodStatus, ResourceList, Taint } from '../model/objects.ts';
import { LABEL_HOSTNAME } from '../model/objects.ts';

export interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
  readonly allocatable?: ResourceList;
  readonly images?: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
}

/** A node as scheduler_perf makes them: 4 CPU, 32 GiB, 110 pods. */
export const makeNode = (name: string, options: NodeOptions = {}): Node => ({
  metadata: { name, labels: { [LABEL_HOSTNAME]: name, ...options.labels } },
  spec: {
    ...(options.taints && { taints: options.taints }),
    ...(options.unschedulable && { unschedulable: true }),
  },
  status: {
    allocatable: { cpu: '4', memory: '32Gi', pods: '110', ...options.allocatable },
    ...(options.images && { images: options.images }),
  },
});

export interface PodOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: ResourceList;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
  readonly deletionTimestamp?: string;
}

export const makePod = (name: string, options: PodOptions = {}): Pod => ({
  metadata: {
    name,
    namespace: options.namespace ?? 'default',
    uid: `uid-${options.namespace ?? 'default'}-${name}`,
    ...(options.labels && { labels: { ...options.labels } }),
    ...(options.deletionTimestamp && { deletionTimestamp: options.deletionTimestamp }),
  },
  spec: {
    schedulerName: 'default-scheduler',
    containers: [
      {
        name: 'pause',
        image: 'registry.k8s.io/pause:3.10',
        ...(options.requests && { resources: { requests: options.requests } }),
      },
    ],
    ...options.spec,
  },
  ...(options.status && { status: options.status }),
});
