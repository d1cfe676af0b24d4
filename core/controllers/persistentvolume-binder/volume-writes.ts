import { isDeepStrictEqual } from 'node:util';
import { PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM } from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  claimReference,
  hasAnnotation,
  isVolumeFor,
  type Claim,
  type Volume,
} from './volume-facts.ts';

/** Each write holds the version that it was decided on: of two that want one volume, one is refused and looks again. */
export class VolumeWrites {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  async volumePhase(volume: Volume, phase: string, message = ''): Promise<Volume> {
    if (volume.status?.phase === phase && (volume.status.message ?? '') === message) return volume;
    const { message: _, ...others } = volume.status ?? {};
    const status = { ...others, phase, ...(message !== '' && { message }) };
    return this.#context.client.resource(PERSISTENT_VOLUME).updateStatus({ ...volume, status });
  }

  async claimStatus(claim: Claim, phase: string, volume?: Volume): Promise<Claim> {
    const before = claim.status ?? {};
    const status = { ...before, phase };
    if (phase === 'Pending') {
      delete status.accessModes;
      delete status.capacity;
    } else if (volume) {
      status.accessModes = volume.spec?.accessModes ?? [];
      // A claim that is bound keeps its size: it grows by way of its conditions only.
      if (before.phase !== 'Bound' || !before.capacity) status.capacity = volume.spec?.capacity ?? {};
    }
    if (isDeepStrictEqual(before, status)) return claim;
    return this.#context.client
      .resource(PERSISTENT_VOLUME_CLAIM, claim.metadata.namespace)
      .updateStatus({ ...claim, status });
  }

  async updateClaim(claim: Claim, change: Partial<Claim>): Promise<Claim> {
    return this.#context.client
      .resource(PERSISTENT_VOLUME_CLAIM, claim.metadata.namespace)
      .update({ ...claim, ...change } as Claim);
  }

  /** Both sides, the volume first: a crash in between leaves a volume that says for whom it is. */
  async bind(volume: Volume, claim: Claim): Promise<void> {
    const bound = await this.volumePhase(await this.#bindVolume(volume, claim), 'Bound');
    await this.claimStatus(await this.#bindClaim(claim, bound), 'Bound', bound);
  }

  /** Takes back what the controller bound; what a user set aside stays so for anyone who takes the name. */
  async unbind(volume: Volume): Promise<void> {
    const { [BOUND_BY_CONTROLLER]: ours, ...annotations } = volume.metadata.annotations ?? {};
    const { claimRef, ...spec } = volume.spec ?? {};
    const { uid: _, resourceVersion: __, ...kept } = claimRef ?? {};
    const next = await this.#context.client.resource(PERSISTENT_VOLUME).update({
      ...volume,
      metadata: { ...volume.metadata, annotations },
      spec: ours === undefined ? { ...spec, claimRef: kept } : spec,
    });
    await this.volumePhase(next, 'Available');
  }

  async #bindVolume(volume: Volume, claim: Claim): Promise<Volume> {
    if (volume.spec?.claimRef?.uid === claim.metadata.uid) return volume;
    const wasReserved = isVolumeFor(volume, claim);
    const annotations = {
      ...volume.metadata.annotations,
      ...(!wasReserved && { [BOUND_BY_CONTROLLER]: 'yes' }),
    };
    return this.#context.client.resource(PERSISTENT_VOLUME).update({
      ...volume,
      metadata: { ...volume.metadata, annotations },
      spec: { ...volume.spec, claimRef: claimReference(claim) },
    });
  }

  async #bindClaim(claim: Claim, volume: Volume): Promise<Claim> {
    const isNamed = claim.spec?.volumeName === volume.metadata.name;
    if (isNamed && hasAnnotation(claim, BIND_COMPLETED)) return claim;
    const annotations = {
      ...claim.metadata.annotations,
      ...(!isNamed && { [BOUND_BY_CONTROLLER]: 'yes' }),
      [BIND_COMPLETED]: 'yes',
    };
    return this.updateClaim(claim, {
      metadata: { ...claim.metadata, annotations },
      spec: { ...claim.spec, volumeName: volume.metadata.name },
    });
  }
}
