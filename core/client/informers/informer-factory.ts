import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { lastingController, manyListen } from '../../base/node/lasting-signal.ts';
import type { Log } from '../../base/log.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import { groupResourceText } from '../../api/meta/group-version.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import type { Client } from '../client.ts';
import type { Kind, Stored } from '../kind.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { Informer, InformerHealth, InformerOptions } from './informer.ts';
import { reflectorMetrics } from './reflector-metrics.ts';
import { Reflector } from './reflector.ts';
import { SharedInformer } from './shared-informer.ts';

export interface InformerFactoryOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry?: Registry;
  /** Finds anyone who changes a shared object, at the cost of a walk over each; for tests. */
  readonly freeze?: boolean;
}

interface Entry {
  readonly informer: SharedInformer<KubernetesObject>;
  readonly transform: ((object: Stored<never>) => Stored) | undefined;
  run(signal: AbortSignal): Promise<void>;
  running: Promise<void> | undefined;
}

/** One informer for each resource and selection, however many ask for it. */
export class InformerFactory implements Disposable {
  readonly #options: InformerFactoryOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #stop = lastingController();

  constructor(options: InformerFactoryOptions) {
    this.#options = options;
  }

  /** The informer of a resource; it does nothing before `start`. */
  informer<T extends KubernetesObject>(kind: Kind<T>, options: InformerOptions<T> = {}): Informer<T> {
    const { namespace = '', labelSelector = '', fieldSelector = '' } = options;
    const key = [kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector].join('|');
    const known = this.#entries.get(key);
    const entry = known ?? this.#make(kind, options);
    this.#entries.set(key, entry);
    const transform = options.transform as Entry['transform'];
    assert(
      !known || transform === undefined || known.transform === transform,
      `two transforms for the informer of ${kind.plural}`,
    );
    const informer = entry.informer as unknown as SharedInformer<T>;
    if (options.indexers) informer.addIndexers(options.indexers);
    return informer;
  }

  /** Starts what was asked for since the last call. */
  start(): void {
    for (const entry of this.#entries.values()) entry.running ??= entry.run(this.#stop.signal);
  }

  /** Resolves when every informer asked for so far has its first list. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (signal) manyListen(signal);
    await Promise.all([...this.#entries.values()].map(({ informer }) => informer.whenSynced(signal)));
  }

  health(): InformerHealth[] {
    return [...this.#entries.values()].map(({ informer }) => informer.health());
  }

  dispose(): void {
    this.#stop.abort();
  }

  /** Disposes, and resolves when all watches are closed. */
  async stop(): Promise<void> {
    this.dispose();
    await Promise.all([...this.#entries.values()].map(({ running }) => running));
  }

  #make<T extends KubernetesObject>(kind: Kind<T>, options: InformerOptions<T>): Entry {
    const { client, clock, random, log, registry, freeze } = this.#options;
    const { transform } = options;
    const keep = !freeze
      ? transform
      : (object: Stored<T>) => deepFreeze(transform ? transform(object) : object);
    const informer = new SharedInformer<T>({ kind, clock, log, transform: keep });
    const name = groupResourceText({ group: kind.group, resource: kind.plural });
    const reflector = new Reflector<T>({
      resource: client.resource(kind, options.namespace),
      selectors: {
        ...(options.labelSelector && { labelSelector: options.labelSelector }),
        ...(options.fieldSelector && { fieldSelector: options.fieldSelector }),
      },
      clock,
      random,
      log,
      sink: informer,
      metrics: registry && reflectorMetrics(registry, name),
    });
    return {
      informer: informer as unknown as SharedInformer<KubernetesObject>,
      transform: transform as Entry['transform'],
      run: (signal) => reflector.run(signal),
      running: undefined,
    };
  }
}
