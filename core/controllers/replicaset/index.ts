import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { createReplicaController } from './replica-controller.ts';
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from './replica-kind.ts';

export const REPLICASET_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'replicaset-controller',
  aliases: ['replicaset'],
  serviceAccount: 'replicaset-controller',
  isOnByDefault: true,
  create: (context, settings) =>
    createReplicaController(context, REPLICA_SETS, settings['concurrent-replicaset-syncs']),
};

export const REPLICATIONCONTROLLER_CONTROLLER: ControllerDefinition<ControllerSettings> = {
  name: 'replicationcontroller-controller',
  aliases: ['replicationcontroller'],
  serviceAccount: 'replication-controller',
  isOnByDefault: true,
  create: (context, settings) =>
    createReplicaController(context, REPLICATION_CONTROLLERS, settings['concurrent-rc-syncs']),
};
