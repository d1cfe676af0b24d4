import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import {
  EVICTION_HARD,
  evictionMessage,
  hasStorageLimit,
  PRESSURE_CHECK_MS,
  PressureState,
  rank,
  resourceOf,
  storageExcess,
  thresholdsMet,
  type Observations,
  type PodNeed,
  type Pressure,
  type Threshold,
} from './pressure.ts';

/** What a runtime knows of the machine that it runs on. */
export interface PressureSource {
  observe(): Promise<Observations>;
  /** By uid, of pods with something running. */
  needs(pods: readonly V1Pod[]): Promise<ReadonlyMap<string, PodNeed>>;
  /** Removes every image that no container uses. */
  freeImages(): Promise<void>;
}

export interface Evictable {
  readonly pod: V1Pod;
  /** Resolves when nothing of it runs any longer. `isPressure`: the node disrupts it, and it did nothing wrong itself. */
  evict(message: string, isPressure: boolean): Promise<void>;
}

export interface EvictionManagerOptions {
  readonly source: PressureSource;
  readonly thresholds?: readonly Threshold[];
  readonly clock: Clock;
  readonly log: Log;
  /** Active pods that may be evicted. */
  pods(): readonly Evictable[];
  /** An event about the node. */
  event(reason: string, message: string): void;
  /** The pressures have changed. */
  onPressure(): void;
}

/** A pod that does not end must not keep the others from being looked at. */
const CLEANUP_MS_MAX = 30_000;

/**
 * Keeps the machine alive while something runs out: images that no one uses go first, then one pod after the other, in
 * upstream's order. Pods that exceed the storage they may have are evicted whether there is room or not.
 */
export class EvictionManager implements Disposable {
  readonly #options: EvictionManagerOptions;
  readonly #state = new PressureState();
  #timer: Disposable | undefined;
  #pressures = '';
  #failure = '';
  #isDisposed = false;

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#later(PRESSURE_CHECK_MS);
  }

  get pressures(): readonly Pressure[] {
    return this.#state.at(this.#options.clock.monotonicMs());
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  /** One look. True: a pod was evicted, and the next look is due now. */
  async look(): Promise<boolean> {
    const { source, clock, thresholds = EVICTION_HARD } = this.#options;
    const observations = await source.observe();
    const met = thresholdsMet(thresholds, observations);
    this.#state.observe(met, clock.monotonicMs());
    this.#tell();
    const pods = this.#options.pods();
    const measured = met.length > 0 ? pods : pods.filter(({ pod }) => hasStorageLimit(pod));
    const needs = measured.length > 0 ? await source.needs(measured.map(({ pod }) => pod)) : new Map();
    const candidates = measured.flatMap((evictable) => {
      const need = needs.get(evictable.pod.metadata?.uid ?? '') as PodNeed | undefined;
      return need ? [{ evictable, pod: evictable.pod, need }] : [];
    });
    const excessive = candidates.flatMap(({ evictable, need }) => {
      const message = storageExcess(evictable.pod, need);
      return message === undefined ? [] : [this.#evict(evictable, message, false)];
    });
    if (excessive.length > 0) {
      await Promise.all(excessive);
      return true;
    }
    const [threshold] = met;
    if (!threshold) return false;
    return this.#reclaim(threshold, candidates);
  }

  async #reclaim(
    threshold: Threshold,
    candidates: readonly { readonly evictable: Evictable; readonly pod: V1Pod; readonly need: PodNeed }[],
  ): Promise<boolean> {
    const { source, event, log } = this.#options;
    const resource = resourceOf(threshold);
    event('EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    if (resource !== 'memory')
      await source.freeImages().catch((error: unknown) => {
        log.write('warn', 'images could not be removed', { error: messageOf(error) });
      });
    const observations = await source.observe();
    if (thresholdsMet([threshold], observations).length === 0) return false;
    const [first] = rank(candidates, threshold);
    if (!first) {
      log.write('error', 'the node is under pressure, and no pod can be evicted', { resource });
      return false;
    }
    await this.#evict(first.evictable, evictionMessage(first.pod, first.need, threshold, observations), true);
    return true;
  }

  async #evict({ pod, evict }: Evictable, message: string, isPressure: boolean): Promise<void> {
    const { clock, log } = this.#options;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    log.write('warn', 'evicting a pod', { pod: `${namespace}/${name}`, message });
    let timer: Disposable | undefined;
    await Promise.race([
      evict(message, isPressure),
      new Promise<void>((resolve) => (timer = clock.after(CLEANUP_MS_MAX, resolve))),
    ]);
    timer?.dispose();
  }

  #tell(): void {
    const now = this.pressures.join();
    if (now === this.#pressures) return;
    this.#pressures = now;
    this.#options.onPressure();
  }

  #later(delayMs: number): void {
    if (this.#isDisposed) return;
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.look()
        .then((isAgain) => {
          this.#failure = '';
          return isAgain;
        })
        .catch((error: unknown) => {
          const why = messageOf(error);
          if (why !== this.#failure)
            this.#options.log.write('error', 'pressure is not known', { error: why });
          this.#failure = why;
          return false;
        })
        .then(
          (isAgain) => this.#later(isAgain ? 0 : PRESSURE_CHECK_MS),
          () => undefined,
        );
    });
  }
}
