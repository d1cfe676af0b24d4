import { bootstrapSigner } from './bootstrap/bootstrap-signer.ts';
import { tokenCleaner } from './bootstrap/token-cleaner.ts';
import { csrApprover } from './certificatesigningrequest/approver.ts';
import { csrCleaner } from './certificatesigningrequest/cleaner.ts';
import { csrSigner } from './certificatesigningrequest/signer.ts';
import { clusterRoleAggregationController } from './clusterrole-aggregation/clusterrole-aggregation-controller.ts';
import type { ControllerSettings } from './config/config.ts';
import { disruptionController } from './disruption/disruption-controller.ts';
import { endpointsController } from './endpoint/endpoints-controller.ts';
import { endpointSliceController } from './endpointslice/endpointslice-controller.ts';
import { endpointSliceMirroringController } from './endpointslicemirroring/endpointslicemirroring-controller.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.ts';
import { metricsServerController } from './metrics-server/metrics-server-controller.ts';
import { namespaceController } from './namespace/namespace-controller.ts';
import { nodeIpamController } from './node-ipam/node-ipam-controller.ts';
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.ts';
import { volumeBinder } from './persistentvolume-binder/volume-binder.ts';
import { podGarbageCollector } from './pod-garbage-collector/pod-garbage-collector.ts';
import { pvProtectionController } from './pv-protection/pv-protection-controller.ts';
import { pvcProtectionController } from './pvc-protection/pvc-protection-controller.ts';
import { resourceQuotaController } from './resourcequota/resourcequota-controller.ts';
import { rootCaPublisher } from './root-ca-publisher/root-ca-publisher.ts';
import type { ControllerDefinition } from './runtime/controller.ts';
import { legacyTokenCleaner } from './serviceaccount-token/legacy-token-cleaner.ts';
import { tokenController } from './serviceaccount-token/token-controller.ts';
import { serviceAccountController } from './serviceaccount/serviceaccount-controller.ts';
import { taintEvictionController } from './taint-eviction/taint-eviction-controller.ts';
import { ttlController } from './ttl/ttl-controller.ts';

/** The controllers that keep the cluster itself in order, as opposed to what runs on it. */
export const CLUSTER_CONTROLLERS: readonly ControllerDefinition<ControllerSettings>[] = [
  tokenController,
  serviceAccountController,
  rootCaPublisher,
  namespaceController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  nodeIpamController,
  nodeLifecycleController,
  taintEvictionController,
  podGarbageCollector,
  garbageCollector,
  disruptionController,
  resourceQuotaController,
  clusterRoleAggregationController,
  csrApprover,
  csrSigner,
  csrCleaner,
  bootstrapSigner,
  tokenCleaner,
  legacyTokenCleaner,
  volumeBinder,
  pvcProtectionController,
  pvProtectionController,
  ttlController,
  metricsServerController,
];
