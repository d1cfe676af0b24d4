import { isNotFound, objectKey } from '../../api/meta/index.ts';
import { PERSISTENT_VOLUME_CLAIM } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import { claimKeysOf } from '../pvc-protection/claims-of-pod.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { claimSources, createClaimSync } from './sync-claim.ts';
import { createVolumeSync } from './sync-volume.ts';
import { classOf } from './volume-facts.ts';
import { VolumeWrites } from './volume-writes.ts';

/** One each, as upstream: claims that compete for volumes are answered one after the other. */
const WORKERS = 1;

/** Brings claims and volumes together. */
export const volumeBinder: ControllerDefinition<ControllerSettings> = {
  name: 'persistentvolume-binder-controller',
  aliases: ['persistentvolume-binder'],
  serviceAccount: 'persistent-volume-binder',
  isOnByDefault: true,
  create(context, settings) {
    const claims = context.informers.informer(PERSISTENT_VOLUME_CLAIM);
    const sources = claimSources(context);
    const { volumes, classes, pods } = sources;
    const writes = new VolumeWrites(context);
    const syncClaim = createClaimSync(context, writes, sources);
    const syncVolume = createVolumeSync(context, writes, claims, (key) => claimLoop.queue.add(key));

    /** What changed or went while it was worked on is looked at again by its event; a conflict by back-off. */
    const unlessGone = async (work: Promise<void>): Promise<void> => {
      try {
        await work;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };
    const claimLoop = workLoop(context, {
      name: 'claims',
      workers: WORKERS,
      async handle(key) {
        const claim = claims.store.get(key);
        if (claim) await unlessGone(syncClaim(claim));
      },
    });
    const volumeLoop = workLoop(context, {
      name: 'volumes',
      workers: WORKERS,
      async handle(name) {
        const volume = volumes.store.get(name);
        if (volume) await unlessGone(syncVolume(volume));
      },
    });
    const resync = { resyncMs: settings['pvclaimbinder-sync-period'] };
    claims.addHandler(
      {
        added: (claim) => claimLoop.queue.add(objectKey(claim)),
        updated: (_, claim) => claimLoop.queue.add(objectKey(claim)),
        deleted: ({ spec }) => {
          if (spec?.volumeName) volumeLoop.queue.add(spec.volumeName);
        },
      },
      resync,
    );
    const queueClaimOf = (reference: { namespace?: string; name?: string } | undefined): void => {
      if (reference) claimLoop.queue.add(`${reference.namespace ?? ''}/${reference.name ?? ''}`);
    };
    const queueUnbound = (className?: string): void => {
      for (const claim of claims.store.list())
        if (!claim.spec?.volumeName && (className === undefined || classOf(claim) === className))
          claimLoop.queue.add(objectKey(claim));
    };
    volumes.addHandler(
      {
        added: ({ metadata }) => volumeLoop.queue.add(metadata.name),
        updated: (before, { metadata, spec, status }) => {
          volumeLoop.queue.add(metadata.name);
          if (before.status?.phase === status?.phase) return;
          queueClaimOf(spec?.claimRef);
          if (status?.phase === 'Available') queueUnbound(spec?.storageClassName ?? '');
        },
        deleted: ({ spec }) => queueClaimOf(spec?.claimRef),
      },
      resync,
    );
    classes.addHandler({ added: () => queueUnbound(), updated: () => queueUnbound() });
    pods.addHandler({
      added: (pod) => {
        if (!pod.spec?.nodeName)
          for (const key of claimKeysOf(pod))
            if (!claims.store.get(key)?.spec?.volumeName) claimLoop.queue.add(key);
      },
    });
    return {
      async run(signal) {
        await Promise.all([claimLoop.run(signal), volumeLoop.run(signal)]);
      },
    };
  },
};
