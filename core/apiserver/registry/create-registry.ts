import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { groupResourceText, type GroupResource } from '../../api/meta/index.ts';
import { registryOf, type ResourceType } from '../../api/scheme/index.ts';
import type { ObjectReader } from '../admission/object-reader.ts';
import type { Store, WatchCacheMetrics } from '../storage/index.ts';
import { GenericStore } from './generic/generic-store.ts';
import { PartStore } from './generic/part-store.ts';
import { ResourceCore } from './generic/resource-core.ts';
import { createObjectReader } from './object-reader.ts';
import type { RestRegistry, RestStorage } from './rest-storage.ts';
import { specStrategy, statusStrategy } from './strategies/spec-status.ts';
import { ROWS } from './strategies/table.ts';

/** How long `ready` waits for the caches that a server cannot do without. */
const READY_LIMIT_MS = 30_000;

/** Needed by admission and authorization of nearly every request: filled before the server says it is ready. */
const ESSENTIAL: readonly GroupResource[] = [{ group: '', resource: 'namespaces' }];

export interface RegistryOptions {
  readonly store: Store;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly newUid?: () => string;
  /** Called once for each resource that gets a cache. */
  readonly cacheMetrics?: (resource: GroupResource) => WatchCacheMetrics;
}

export interface Registry extends RestRegistry {
  /** Fills the essential caches; the others when they are first needed. */
  start(): void;
  close(): void;
  /** Resolves when the essential caches are filled. */
  ready(): Promise<void>;
  /** This server's own view, for admission, authentication and authorization. */
  readonly reader: ObjectReader;
}

const keyOf = (group: string, plural: string, subresource: string): string =>
  `${groupResourceText({ group, resource: plural })}/${subresource}`;

export const createRegistry = (options: RegistryOptions): Registry => {
  const { store, minor, clock, random, log, newUid = randomUUID } = options;
  const stores = new Map<string, GenericStore>();
  const byPrefix = new Map<string, GenericStore>();
  const storages = new Map<string, RestStorage>();

  const storeOf = (type: ResourceType): GenericStore | undefined => {
    if (type.storage === undefined) return undefined;
    const known = byPrefix.get(type.storage.prefix);
    if (known) return known;
    const core = new ResourceCore({
      type,
      store,
      clock,
      random,
      log,
      newUid,
      cacheMetrics: options.cacheMetrics?.({ group: type.group, resource: type.plural }),
    });
    const row = ROWS[groupResourceText(core.resource)] ?? {};
    const made = new GenericStore(core, specStrategy(row, row.own));
    byPrefix.set(type.storage.prefix, made);
    if (type.subresources.some(({ name }) => name === 'status'))
      storages.set(
        keyOf(type.group, type.plural, 'status'),
        new PartStore(made, statusStrategy(made.strategy, row)),
      );
    return made;
  };

  for (const type of registryOf(minor).resources) {
    const made = storeOf(type);
    if (!made) continue;
    stores.set(groupResourceText({ group: type.group, resource: type.plural }), made);
    storages.set(keyOf(type.group, type.plural, ''), made);
  }

  const essential = (): GenericStore[] =>
    ESSENTIAL.flatMap((resource) => stores.get(groupResourceText(resource)) ?? []);

  return {
    storageOf: (group, plural, subresource) => storages.get(keyOf(group, plural, subresource)),
    start() {
      for (const one of essential()) void one.core.cache;
    },
    close() {
      for (const one of byPrefix.values()) one.core.close();
    },
    async ready() {
      await Promise.all(essential().map((one) => one.core.cache.ready(READY_LIMIT_MS)));
    },
    reader: createObjectReader((resource) => stores.get(groupResourceText(resource))),
  };
};
