import { clusterRoleAggregationController } from './clusterrole-aggregation/clusterrole-aggregation-controller.ts';
import type { ControllerSettings } from './config/config.ts';
import { endpointsController } from './endpoint/endpoints-controller.ts';
import { endpointSliceController } from './endpointslice/endpointslice-controller.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.ts';
import { namespaceController } from './namespace/namespace-controller.ts';
import { nodeIpamController } from './node-ipam/node-ipam-controller.ts';
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.ts';
import { podGarbageCollector } from './pod-garbage-collector/pod-garbage-collector.ts';
import { pvProtectionController } from './pv-protection/pv-protection-controller.ts';
import { pvcProtectionController } from './pvc-protection/pvc-protection-controller.ts';
import { rootCaPublisher } from './root-ca-publisher/root-ca-publisher.ts';
import type { ControllerDefinition } from './runtime/controller.ts';
import { taintEvictionController } from './taint-eviction/taint-eviction-controller.ts';
import { ttlController } from './ttl/ttl-controller.ts';
import { tokenController } from './serviceaccount-token/token-controller.ts';
import { serviceAccountController } from './serviceaccount/serviceaccount-controller.ts';

/** The controllers that keep the cluster itself in order, as opposed to what runs on it. */
export const CLUSTER_CONTROLLERS: readonly ControllerDefinition<ControllerSettings>[] = [
  tokenController,
  serviceAccountController,
  rootCaPublisher,
  namespaceController,
  endpointsController,
  endpointSliceController,
  nodeLifecycleController,
  nodeIpamController,
  taintEvictionController,
  podGarbageCollector,
  garbageCollector,
  ttlController,
  pvProtectionController,
  pvcProtectionController,
  clusterRoleAggregationController,
];
