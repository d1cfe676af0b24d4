import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import type { Release } from '../../api/releases/index.ts';
import type { EventType } from '../../client/index.ts';
import type { ClusterDns } from '../dns/pod-dns.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { ObjectSource } from '../volumes/object-source.ts';
import type { KubeletMetrics } from './kubelet-metrics.ts';

/** What the pods of one node share. One object per node, so that a pod holds one reference and no copies. */
export interface NodeContext {
  readonly nodeName: string;
  readonly hostIP: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: Runtime;
  readonly objects: ObjectSource;
  readonly allocatable: Readonly<Record<string, string>>;
  /** `--cluster-dns` and `--cluster-domain`; absent: pods resolve names as their node does. */
  readonly clusterDns?: ClusterDns | undefined;
  /** Variables that every container gets (KUBERNETES_SERVICE_HOST and its kin). */
  readonly environment: ReadonlyMap<string, string>;
  readonly metrics: KubeletMetrics;
  /** `kube-probe/1.36` */
  readonly probeUserAgent: string;
  readonly release: Release;
  event(object: KubernetesObject, type: EventType, reason: string, message: string): void;
}
