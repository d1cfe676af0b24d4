import type { ControllerSettings } from '../config/config.ts';
import { DEPLOYMENT_CONTROLLER } from '../deployment/index.ts';
import { JOB_CONTROLLER } from '../job/index.ts';
import { REPLICASET_CONTROLLER, REPLICATIONCONTROLLER_CONTROLLER } from '../replicaset/index.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';

/** The controllers of workloads, for the manager's list. */
export const WORKLOAD_CONTROLLERS: readonly ControllerDefinition<ControllerSettings>[] = [
  DEPLOYMENT_CONTROLLER,
  REPLICASET_CONTROLLER,
  REPLICATIONCONTROLLER_CONTROLLER,
  JOB_CONTROLLER,
];
