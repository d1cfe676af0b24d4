import { messageOf } from '../../base/errors.ts';
import { isNotFound } from '../../api/meta/index.ts';
import {
  PERSISTENT_VOLUME,
  PERSISTENT_VOLUME_CLAIM,
  type Informer,
  type PersistentVolumeClaim,
} from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';
import { LOCAL_PROVISIONER } from './local-provisioner.ts';
import {
  BOUND_BY_CONTROLLER,
  hasAnnotation,
  PROVISIONED_BY,
  type Claim,
  type Volume,
} from './volume-facts.ts';
import type { VolumeWrites } from './volume-writes.ts';

/** Brings one volume on: free, set aside, bound, or released and taken back as its policy says. */
export const createVolumeSync = (
  { client, events }: ControllerContext,
  writes: VolumeWrites,
  claims: Informer<PersistentVolumeClaim>,
  queueClaim: (key: string) => void,
): ((volume: Volume) => Promise<void>) => {
  const isProvisioned = (volume: Volume): boolean => hasAnnotation(volume, PROVISIONED_BY);

  const reclaim = async (volume: Volume): Promise<void> => {
    const policy = volume.spec?.persistentVolumeReclaimPolicy ?? 'Retain';
    if (policy === 'Recycle')
      events.event(
        volume,
        'Warning',
        'VolumeUnknownReclaimPolicy',
        'Volume has an unrecognized PersistentVolumeReclaimPolicy',
      );
    // Volumes of others are deleted by anyone who made them.
    const isOurs = volume.metadata.annotations?.[PROVISIONED_BY] === LOCAL_PROVISIONER;
    if (policy !== 'Delete' || !isOurs || volume.metadata.deletionTimestamp) return;
    const { name, uid } = volume.metadata;
    try {
      await client.resource(PERSISTENT_VOLUME).delete(name, { preconditions: { uid } });
    } catch (error) {
      if (isNotFound(error)) return;
      events.event(volume, 'Warning', 'VolumeFailedDelete', messageOf(error));
      throw error;
    }
  };

  /** The claim of a reference; asked of the server before it is taken for gone, since data may hang on it. */
  const claimOf = async (volume: Volume): Promise<Claim | undefined> => {
    const { namespace = '', name = '', uid } = volume.spec?.claimRef ?? {};
    const cached = claims.store.find(namespace, name);
    if (cached?.metadata.uid === uid) return cached;
    const live = await client.resource(PERSISTENT_VOLUME_CLAIM, namespace).find(name);
    return live?.metadata.uid === uid ? live : undefined;
  };

  return async (volume) => {
    const { claimRef } = volume.spec ?? {};
    if (!claimRef?.uid) {
      await writes.volumePhase(volume, 'Available');
      if (claimRef) queueClaim(`${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`);
      return;
    }
    const claim = await claimOf(volume);
    if (!claim) {
      const phase = volume.status?.phase;
      const released = phase === 'Failed' ? volume : await writes.volumePhase(volume, 'Released');
      return reclaim(released);
    }
    const key = `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`;
    const named = claim.spec?.volumeName ?? '';
    if (named === volume.metadata.name) return void (await writes.volumePhase(volume, 'Bound'));
    // Half bound: the claim finishes it.
    if (named === '') return queueClaim(key);
    if (isProvisioned(volume) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') {
      // Made for the claim, which got another meanwhile.
      return reclaim(await writes.volumePhase(volume, 'Released'));
    }
    if (hasAnnotation(volume, BOUND_BY_CONTROLLER)) await writes.unbind(volume);
  };
};
