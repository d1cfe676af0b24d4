import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createTtlAfterFinishedController } from './ttl-after-finished-controller.ts';

export const TTL_AFTER_FINISHED_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'ttl-after-finished-controller',
  aliases: ['ttl-after-finished'],
  serviceAccount: 'ttl-after-finished-controller',
  isOnByDefault: true,
  create: (context, settings) =>
    createTtlAfterFinishedController(context, settings['concurrent-ttl-after-finished-syncs']),
};
