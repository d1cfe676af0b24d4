import type { EndpointSlice, Stored } from '../../client/index.ts';

/**
 * Knows what was written and has not come back by the watch. Planning on an older cache would make slices twice.
 * Bounded by the slices of present services.
 */
export class SliceTracker {
  readonly #byService = new Map<string, Map<string, number>>();

  /** A slice as the server answered it. */
  wrote(service: string, { metadata }: Stored<EndpointSlice>): void {
    const slices = this.#byService.get(service) ?? new Map<string, number>();
    this.#byService.set(service, slices.set(metadata.uid, metadata.generation ?? 0));
  }

  /** It is being deleted, or is gone. */
  dropped(service: string, uid: string): void {
    this.#byService.get(service)?.delete(uid);
  }

  /** Whether the cache is behind what was written. */
  isStale(service: string, cached: readonly Stored<EndpointSlice>[]): boolean {
    const generations = new Map(cached.map(({ metadata }) => [metadata.uid, metadata.generation ?? 0]));
    return [...(this.#byService.get(service) ?? [])].some(
      ([uid, generation]) => (generations.get(uid) ?? -1) < generation,
    );
  }

  forget(service: string): void {
    this.#byService.delete(service);
  }
}
