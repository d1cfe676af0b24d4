import type { Clock } from '../../base/clock.ts';

/** As upstream: a watch event that has not come by then will not come. */
const EXPECTATIONS_TIMEOUT_MS = 5 * 60_000;

interface Expected {
  creations: number;
  deletions: number;
  readonly sinceMs: number;
}

/** Creations and deletions that were asked for and not yet seen, by the key of their controller. */
export class Expectations {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Expected>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Before the requests are sent: their events may come before their answers. */
  expect(key: string, counts: { readonly creations?: number; readonly deletions?: number }): void {
    this.#byKey.set(key, {
      creations: counts.creations ?? 0,
      deletions: counts.deletions ?? 0,
      sinceMs: this.#clock.monotonicMs(),
    });
  }

  /** One was seen, or its request failed. */
  creationObserved(key: string, count = 1): void {
    const held = this.#byKey.get(key);
    if (held) held.creations -= count;
  }

  deletionObserved(key: string, count = 1): void {
    const held = this.#byKey.get(key);
    if (held) held.deletions -= count;
  }

  raise(key: string, counts: { readonly creations?: number; readonly deletions?: number }): void {
    const held = this.#byKey.get(key);
    if (!held) return this.expect(key, counts);
    held.creations += counts.creations ?? 0;
    held.deletions += counts.deletions ?? 0;
  }

  /** Whether the cache may be trusted: everything was seen, it is too long ago, or nothing was ever asked for. */
  satisfied(key: string): boolean {
    const held = this.#byKey.get(key);
    if (!held) return true;
    if (held.creations <= 0 && held.deletions <= 0) return true;
    return this.#clock.monotonicMs() - held.sinceMs > EXPECTATIONS_TIMEOUT_MS;
  }

  /** When the controller's object is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}

/**
 * Expectations that know which objects are to go, because a deletion is announced twice: when it begins (the object
 * gets a deletion time) and when it ends.
 */
export class UidTrackingExpectations {
  readonly #counts: Expectations;
  readonly #deletions = new Map<string, Set<string>>();

  constructor(clock: Clock) {
    this.#counts = new Expectations(clock);
  }

  expectCreations(key: string, creations: number): void {
    this.#counts.expect(key, { creations });
  }

  /** `objects` are `namespace/name` of what is deleted. */
  expectDeletions(key: string, objects: readonly string[]): void {
    this.#deletions.set(key, new Set(objects));
    this.#counts.expect(key, { deletions: objects.length });
  }

  /** Both at the same time: the two calls above forget each other. */
  expect(key: string, counts: { readonly creations: number; readonly deletions: readonly string[] }): void {
    this.#deletions.set(key, new Set(counts.deletions));
    this.#counts.expect(key, { creations: counts.creations, deletions: counts.deletions.length });
  }

  creationObserved(key: string): void {
    this.#counts.creationObserved(key);
  }

  deletionObserved(key: string, object: string): void {
    if (this.#deletions.get(key)?.delete(object)) this.#counts.deletionObserved(key);
  }

  satisfied(key: string): boolean {
    return this.#counts.satisfied(key);
  }

  forget(key: string): void {
    this.#deletions.delete(key);
    this.#counts.forget(key);
  }
}
