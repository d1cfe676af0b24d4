import type { ControllerDefinition } from '../controllers/runtime/controller.ts';
import { cloudNodeLifecycleController } from './cloud-node-lifecycle/cloud-node-lifecycle-controller.ts';
import { cloudNodeController } from './cloud-node/cloud-node-controller.ts';
import type { CloudSettings } from './config/config.ts';
import { nodeRouteController } from './node-route/node-route-controller.ts';
import { serviceLbController } from './service-lb/service-lb-controller.ts';

/** The controllers of the cloud-controller-manager, in upstream's order. */
export const CLOUD_CONTROLLERS: readonly ControllerDefinition<CloudSettings>[] = [
  cloudNodeController,
  cloudNodeLifecycleController,
  serviceLbController,
  nodeRouteController,
];
