import type { ObjectMeta } from '../../../api/meta/index.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../model/volumes.ts';

interface Stored {
  readonly metadata: Readonly<ObjectMeta>;
}

/**
 * Objects as they will be once our own writes are done, over what the informer holds. An assumption ends when
 * the informer shows another version than the one it was made on.
 */
class Overlay<T extends Stored> {
  readonly #assumed = new Map<string, { readonly object: T; readonly baseVersion: string | undefined }>();

  assume(key: string, base: T, object: T): void {
    this.#assumed.set(key, { object, baseVersion: base.metadata.resourceVersion });
  }

  revert(key: string): void {
    this.#assumed.delete(key);
  }

  over(key: string, current: T | undefined): T | undefined {
    const assumed = this.#assumed.get(key);
    if (!assumed) return current;
    if (current?.metadata.resourceVersion === assumed.baseVersion) return assumed.object;
    this.#assumed.delete(key);
    return current;
  }
}

export class VolumeAssumptions {
  readonly #lister: ClusterLister;
  readonly #volumes = new Overlay<PersistentVolume>();
  readonly #claims = new Overlay<PersistentVolumeClaim>();

  constructor(lister: ClusterLister) {
    this.#lister = lister;
  }

  volume(name: string): PersistentVolume | undefined {
    return this.#volumes.over(name, this.#lister.volume(name));
  }

  volumesOfClass(className: string): readonly PersistentVolume[] {
    return this.#lister
      .volumes()
      .filter(({ spec }) => (spec?.storageClassName ?? '') === className)
      .flatMap((volume) => this.#volumes.over(volume.metadata.name ?? '', volume) ?? []);
  }

  claim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    return this.#claims.over(`${namespace}/${name}`, this.#lister.claim(namespace, name));
  }

  assumeVolume(base: PersistentVolume, volume: PersistentVolume): void {
    this.#volumes.assume(volume.metadata.name ?? '', base, volume);
  }

  revertVolume({ metadata }: PersistentVolume): void {
    this.#volumes.revert(metadata.name ?? '');
  }

  assumeClaim(base: PersistentVolumeClaim, claim: PersistentVolumeClaim): void {
    this.#claims.assume(`${claim.metadata.namespace}/${claim.metadata.name}`, base, claim);
  }

  revertClaim({ metadata }: PersistentVolumeClaim): void {
    this.#claims.revert(`${metadata.namespace}/${metadata.name}`);
  }
}
