import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createCronJobController } from './cronjob-controller.ts';

export const CRONJOB_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'cronjob-controller',
  aliases: ['cronjob'],
  serviceAccount: 'cronjob-controller',
  isOnByDefault: true,
  create: (context, settings) => createCronJobController(context, settings['concurrent-cron-job-syncs']),
};
