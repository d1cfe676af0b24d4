import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createDaemonSetController } from './daemonset-controller.ts';

export const DAEMONSET_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'daemonset-controller',
  aliases: ['daemonset'],
  serviceAccount: 'daemon-set-controller',
  isOnByDefault: true,
  create: (context, settings) => createDaemonSetController(context, settings['concurrent-daemonset-syncs']),
};
