import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createDeploymentController } from './deployment-controller.ts';

export const DEPLOYMENT_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'deployment-controller',
  aliases: ['deployment'],
  serviceAccount: 'deployment-controller',
  isOnByDefault: true,
  create: (context, settings) => createDeploymentController(context, settings['concurrent-deployment-syncs']),
};
