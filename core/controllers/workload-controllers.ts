import type { ControllerSettings } from './config/config.ts';
import { CRONJOB_CONTROLLER } from './cronjob/index.ts';
import { DAEMONSET_CONTROLLER } from './daemonset/index.ts';
import { DEPLOYMENT_CONTROLLER } from './deployment/index.ts';
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/hpa-controller.ts';
import { JOB_CONTROLLER } from './job/index.ts';
import { REPLICASET_CONTROLLER, REPLICATIONCONTROLLER_CONTROLLER } from './replicaset/index.ts';
import type { ControllerDefinition } from './runtime/controller.ts';
import { STATEFULSET_CONTROLLER } from './statefulset/index.ts';
import { TTL_AFTER_FINISHED_CONTROLLER } from './ttl-after-finished/index.ts';

/** The controllers of workloads, for the manager's list. */
export const WORKLOAD_CONTROLLERS: readonly ControllerDefinition<ControllerSettings>[] = [
  DEPLOYMENT_CONTROLLER,
  REPLICASET_CONTROLLER,
  REPLICATIONCONTROLLER_CONTROLLER,
  STATEFULSET_CONTROLLER,
  DAEMONSET_CONTROLLER,
  JOB_CONTROLLER,
  CRONJOB_CONTROLLER,
  TTL_AFTER_FINISHED_CONTROLLER,
  horizontalPodAutoscalerController,
];
