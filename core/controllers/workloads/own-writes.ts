import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { compareResourceVersions, type Stored } from '../../client/index.ts';

/**
 * What a controller wrote last of each object, so that it does not decide on an older state of it: pods may have come by
 * watch while the status that counts them has not. The write's own event brings the key back.
 */
export class OwnWrites {
  readonly #last = new Map<string, { readonly uid: string; readonly resourceVersion: string }>();

  wrote(key: string, { metadata }: Stored): void {
    this.#last.set(key, { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
  }

  /** Whether the cache has what was written, or the object is another by now. */
  areSeenIn(key: string, cached: Stored<KubernetesObject>): boolean {
    const last = this.#last.get(key);
    if (last?.uid !== cached.metadata.uid) return true;
    return (compareResourceVersions(cached.metadata.resourceVersion, last.resourceVersion) ?? 0) >= 0;
  }

  forget(key: string): void {
    this.#last.delete(key);
  }
}
