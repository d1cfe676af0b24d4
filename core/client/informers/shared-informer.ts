import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { objectKey, type KubernetesObject } from '../../api/meta/object-meta.ts';
import type { WatchEvent } from '../client.ts';
import type { Kind, Stored } from '../kind.ts';
import type {
  Handler,
  HandlerOptions,
  HandlerRegistration,
  Indexers,
  Informer,
  InformerHealth,
  InformerPhase,
} from './informer.ts';
import { ObjectStore } from './object-store.ts';
import type { ReflectorSink } from './reflector.ts';
import { compareResourceVersions, isOlder } from './resource-version.ts';

export interface SharedInformerOptions<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  readonly clock: Clock;
  readonly log: Log;
  readonly transform?: ((object: Stored<T>) => Stored<T>) | undefined;
}

interface Listener<T extends KubernetesObject> {
  readonly handler: Handler<T>;
  synced: boolean;
}

/** The store and the handlers of one resource. The reflector is its only writer. */
export class SharedInformer<T extends KubernetesObject> implements Informer<T>, ReflectorSink<T> {
  readonly kind: Kind<T>;
  readonly store = new ObjectStore<T>();
  readonly #options: SharedInformerOptions<T>;
  readonly #listeners = new Set<Listener<T>>();
  readonly #healthListeners = new Set<(health: InformerHealth) => void>();
  readonly #waiting = new Set<() => void>();
  #phase: InformerPhase = 'idle';
  #synced = false;
  #version = '';
  #lastContactMs: number | undefined;
  #lastEventMs: number | undefined;
  #listsCount = 0;
  #watchesCount = 0;
  #lastError: string | undefined;

  constructor(options: SharedInformerOptions<T>) {
    this.kind = options.kind;
    this.#options = options;
  }

  get synced(): boolean {
    return this.#synced;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#synced) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const settle = (): void => {
        signal?.removeEventListener('abort', onAbort);
        this.#waiting.delete(settle);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(settle);
        reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(settle);
    });
  }

  addIndexers(indexers: Indexers<T>): void {
    this.store.addIndexers(indexers);
  }

  addHandler(handler: Handler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const listener: Listener<T> = { handler, synced: false };
    this.#listeners.add(listener);
    for (const object of this.store.list()) this.#added(listener, object, true);
    listener.synced = this.#synced;
    const resync = options.resyncMs === undefined ? undefined : this.#resync(listener, options.resyncMs);
    const registration = toDisposable(() => {
      this.#listeners.delete(listener);
      resync?.dispose();
    });
    return {
      get synced() {
        return listener.synced;
      },
      dispose: () => registration.dispose(),
    };
  }

  health(): InformerHealth {
    return {
      kind: this.kind,
      phase: this.#phase,
      synced: this.#synced,
      size: this.store.size,
      resourceVersion: this.#version,
      lastContactMs: this.#lastContactMs,
      lastEventMs: this.#lastEventMs,
      relistsCount: Math.max(0, this.#listsCount - 1),
      reconnectsCount: Math.max(0, this.#watchesCount - 1),
      lastError: this.#lastError,
    };
  }

  onHealth(listener: (health: InformerHealth) => void): Disposable {
    this.#healthListeners.add(listener);
    return toDisposable(() => this.#healthListeners.delete(listener));
  }

  replace(items: readonly Stored<T>[], resourceVersion: string): void {
    const isInitial = !this.#synced;
    this.#listsCount += 1;
    this.#reached(resourceVersion);
    const present = new Set<string>();
    for (const item of items) {
      const key = objectKey(item);
      present.add(key);
      const held = this.store.get(key);
      if (!held || !isSameState(held, item)) this.#set(item, isInitial);
    }
    for (const key of this.store.keys()) if (!present.has(key)) this.#delete(key, undefined);
    if (!isInitial) return;
    this.#synced = true;
    for (const listener of this.#listeners) listener.synced = true;
    for (const settle of [...this.#waiting]) settle();
    this.#tellHealth();
  }

  change(event: WatchEvent<T>, resourceVersion: string): void {
    const reached = this.#version;
    this.#reached(resourceVersion);
    const key = objectKey(event.object);
    const held = this.store.get(key);
    const version = event.object.metadata.resourceVersion;
    if (event.type === 'DELETED') {
      if (held && !isOlder(version, held.metadata.resourceVersion)) this.#delete(key, event.object);
    } else if (held ? !isRepeated(version, held.metadata.resourceVersion) : !isOlder(version, reached)) {
      this.#set(event.object, false);
    }
  }

  contact(resourceVersion: string): void {
    this.#reached(resourceVersion);
  }

  phase(phase: InformerPhase, error?: string): void {
    if (phase === 'watching') {
      this.#watchesCount += 1;
      this.#lastError = undefined;
    } else if (error !== undefined) this.#lastError = error;
    this.#phase = phase;
    this.#tellHealth();
  }

  #reached(resourceVersion: string): void {
    this.#version = resourceVersion;
    this.#lastContactMs = this.#options.clock.nowMs();
  }

  #set(raw: Stored<T>, isInInitialList: boolean): void {
    const object = this.#options.transform ? this.#options.transform(raw) : raw;
    this.#lastEventMs = this.#options.clock.nowMs();
    const before = this.store.set(object);
    for (const listener of [...this.#listeners])
      if (before) this.#call(listener, () => listener.handler.updated?.(before, object));
      else this.#added(listener, object, isInInitialList);
  }

  /** `last` is the state that the event brought; without one the deletion itself was missed. */
  #delete(key: string, last: Stored<T> | undefined): void {
    const held = this.store.delete(key);
    if (!held) return;
    this.#lastEventMs = this.#options.clock.nowMs();
    const { transform } = this.#options;
    const object = last ? (transform ? transform(last) : last) : held;
    for (const listener of [...this.#listeners])
      this.#call(listener, () =>
        listener.handler.deleted?.(object, { finalStateUnknown: last === undefined }),
      );
  }

  #added(listener: Listener<T>, object: Stored<T>, isInInitialList: boolean): void {
    this.#call(listener, () => listener.handler.added?.(object, { isInInitialList }));
  }

  #call(listener: Listener<T>, run: () => void): void {
    if (!this.#listeners.has(listener)) return;
    try {
      run();
    } catch (error) {
      this.#options.log.write('error', 'an informer handler threw an error', {
        resource: this.kind.plural,
        error: messageOf(error),
      });
    }
  }

  #resync(listener: Listener<T>, resyncMs: number): Disposable {
    const { clock } = this.#options;
    let timer = clock.after(resyncMs, run.bind(this));
    function run(this: SharedInformer<T>): void {
      for (const object of this.store.list())
        this.#call(listener, () => listener.handler.updated?.(object, object));
      timer = clock.after(resyncMs, run.bind(this));
    }
    return toDisposable(() => timer.dispose());
  }

  #tellHealth(): void {
    const health = this.health();
    for (const listener of [...this.#healthListeners]) listener(health);
  }
}

const isSameState = (a: Stored, b: Stored): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

/** The event was seen before, or is older than one that was. */
const isRepeated = (version: string, held: string): boolean => {
  const order = compareResourceVersions(version, held);
  return order === undefined ? version === held : order <= 0;
};
