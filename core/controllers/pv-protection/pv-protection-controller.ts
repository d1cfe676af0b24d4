import { isNotFound } from '../../api/meta/index.ts';
import { PERSISTENT_VOLUME, type PersistentVolume, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';

export const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';
const WORKERS = 1;

/** Keeps volumes that are bound to a claim from going before the claim does. */
export const pvProtectionController: ControllerDefinition<ControllerSettings> = {
  name: 'persistentvolume-protection-controller',
  aliases: ['pv-protection'],
  serviceAccount: 'pv-protection-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers } = context;
    const volumes = informers.informer(PERSISTENT_VOLUME);
    const write = async (volume: Stored<PersistentVolume>, finalizers: string[]): Promise<void> => {
      try {
        await client
          .resource(PERSISTENT_VOLUME)
          .update({ ...volume, metadata: { ...volume.metadata, finalizers } });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };
    const loop = workLoop(context, {
      name: 'pvprotection',
      workers: WORKERS,
      async handle(name) {
        const volume = volumes.store.get(name);
        if (!volume) return;
        const { finalizers = [], deletionTimestamp } = volume.metadata;
        const isHeld = finalizers.includes(VOLUME_FINALIZER);
        if (!deletionTimestamp && !isHeld) return write(volume, [...finalizers, VOLUME_FINALIZER]);
        if (deletionTimestamp && isHeld && volume.status?.phase !== 'Bound')
          await write(
            volume,
            finalizers.filter((one) => one !== VOLUME_FINALIZER),
          );
      },
    });
    volumes.addHandler({
      added: ({ metadata }) => loop.queue.add(metadata.name),
      updated: (_, { metadata }) => loop.queue.add(metadata.name),
    });
    return loop;
  },
};
