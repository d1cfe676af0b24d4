import { naturalOrder } from '../../../../core/base/natural-order.ts';
import type { LeaseView } from '../../../../core/contract/index.ts';
import { statusTone } from '../../../kinds/status-tone.ts';
import type { NodeFact, PodFact } from '../data/workload.ts';
import type { ComponentRow } from './component-rows.ts';
import type { HostView } from './host-view.ts';

/** Labels that kubeadm gives to the static pods of a control plane. */
const TIER = 'control-plane';
const ORDER = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'etcd',
];

/** Holders are named after their host: `cp-1_6f0c…`, or just `cp-1`. */
const isHeldBy = (lease: LeaseView | undefined, node: string): boolean =>
  lease !== undefined && lease.holder.split('_')[0] === node;

const rowOf = (pod: PodFact, component: string, leases: readonly LeaseView[]): ComponentRow => {
  const isReady = pod.status === 'Running' && pod.ready.split('/')[0] === pod.ready.split('/')[1];
  const lease = leases.find(({ namespace, name }) => namespace === 'kube-system' && name === component);
  return {
    name: component,
    phase: isReady ? 'ready' : pod.status === 'Running' ? 'serving' : 'exited',
    tone: isReady ? 'ok' : (statusTone(pod.status) ?? 'pending'),
    role: !isReady
      ? 'none'
      : component === 'kube-apiserver'
        ? 'active'
        : isHeldBy(lease, pod.node)
          ? 'leader'
          : lease
            ? 'standby'
            : 'none',
    version: '',
    restarts: Number.parseInt(pod.restarts, 10) || 0,
    message: isReady ? undefined : pod.status,
    heapBytes: undefined,
    utilization: undefined,
  };
};

const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

/** The control plane of a cluster that others run, as far as its nodes, pods and leases may be read. */
export const remoteHosts = (
  nodes: readonly NodeFact[],
  pods: readonly PodFact[],
  leases: readonly LeaseView[],
): readonly HostView[] =>
  nodes
    .filter(({ isControlPlane }) => isControlPlane)
    .map((node) => ({
      name: node.name,
      address: node.address,
      role: 'control-plane',
      phase: undefined,
      status: node.status,
      tone: node.isReady ? (node.isCordoned ? 'warn' : 'ok') : 'error',
      message: undefined,
      connections: undefined,
      rssBytes: undefined,
      rows: pods
        .filter(
          (pod) =>
            pod.node === node.name && pod.labels['tier'] === TIER && pod.labels['component'] !== undefined,
        )
        .map((pod) => rowOf(pod, pod.labels['component'] ?? '', leases))
        .sort((a, b) => rank(a.name) - rank(b.name) || naturalOrder(a.name, b.name)),
    }));
