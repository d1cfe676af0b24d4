import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { CLUSTER_CONTROLLERS } from '../../controllers/cluster-loops.ts';
import { controllerManagerConfiguration, readControllerSettings } from '../../controllers/config/config.ts';
import { CONTROLLER_MANAGER_FLAGS } from '../../controllers/config/flags.ts';
import { runControllerManager } from '../../controllers/run/run-controller-manager.ts';
import { WORKLOAD_CONTROLLERS } from '../../controllers/workload-controllers.ts';
import type { Component } from './component.ts';
import { levelOf } from './verbosity.ts';

export const kubeControllerManager: Component = {
  name: 'kube-controller-manager',
  flags: CONTROLLER_MANAGER_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => levelOf(readControllerSettings(args).v),
  start: (args, { log, version = NEWEST_RELEASE }) => {
    const settings = readControllerSettings(args);
    return runControllerManager({
      name: 'kube-controller-manager',
      settings,
      configuration: controllerManagerConfiguration(settings),
      controllers: [...WORKLOAD_CONTROLLERS, ...CLUSTER_CONTROLLERS],
      version,
      log,
    });
  },
};
