import type { ControllerSettings } from './config/config.ts';
import { endpointsController } from './endpoint/endpoints-controller.ts';
import { endpointSliceController } from './endpointslice/endpointslice-controller.ts';
import { namespaceController } from './namespace/namespace-controller.ts';
import { rootCaPublisher } from './root-ca-publisher/root-ca-publisher.ts';
import type { ControllerDefinition } from './runtime/controller.ts';
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
];
