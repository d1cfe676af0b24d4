import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createStatefulSetController } from './statefulset-controller.ts';

export const STATEFULSET_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'statefulset-controller',
  aliases: ['statefulset'],
  serviceAccount: 'statefulset-controller',
  isOnByDefault: true,
  create: (context, settings) =>
    createStatefulSetController(context, settings['concurrent-statefulset-syncs']),
};
