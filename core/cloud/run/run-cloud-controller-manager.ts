import type { Log } from '../../base/log.ts';
import type { RunningManager } from '../../component/run-manager.ts';
import { runControllerManager } from '../../controllers/run/run-controller-manager.ts';
import { CLOUD_CONTROLLERS } from '../cloud-controllers.ts';
import type { CloudSettings } from '../config/config.ts';

export interface CloudControllerManagerOptions {
  readonly settings: CloudSettings;
  readonly version: string;
  readonly log: Log;
}

/** The cloud-controller-manager: its lease, its secure port, and the controllers of the cloud while it leads. */
export const runCloudControllerManager = (options: CloudControllerManagerOptions): Promise<RunningManager> =>
  runControllerManager({
    ...options,
    name: 'cloud-controller-manager',
    controllers: CLOUD_CONTROLLERS,
    eventSources: {
      'service-lb-controller': 'service-controller',
      'node-route-controller': 'route_controller',
    },
  });
