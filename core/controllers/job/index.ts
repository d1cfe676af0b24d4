import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createJobController } from './job-controller.ts';

export const JOB_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'job-controller',
  aliases: ['job'],
  serviceAccount: 'job-controller',
  isOnByDefault: true,
  create: (context, settings) => createJobController(context, settings['concurrent-job-syncs']),
};
