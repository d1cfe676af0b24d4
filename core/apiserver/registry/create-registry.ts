import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { assert } from '../../base/assert.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import {
  groupKindText,
  groupResourceText,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import type { FieldErrorList } from '../../api/field/field-error.ts';
import { registryOf, type ResourceType } from '../../api/scheme/index.ts';
import type { ObjectReader, QuotaWriter } from '../storage/object-reader.ts';
import type { EscalationGuard } from '../authz/rbac/escalation.ts';
import { ListTurns } from '../storage/watch-cache/list-turns.ts';
import type { Store } from '../storage/store.ts';
import type { WatchCacheMetrics } from '../storage/watch-cache/watch-cache.ts';
import { GenericStore } from './generic/generic-store.ts';
import { PartStore } from './generic/part-store.ts';
import { ResourceCore } from './generic/resource-core.ts';
import { builtInDefinition, type ResourceDefinition } from './generic/resource-definition.ts';
import { createObjectReader, createQuotaWriter } from './object-reader.ts';
import type { RestRegistry, RestStorage } from './rest-storage.ts';
import { IpPool, OWN_SCOPE } from './services/ip-pool.ts';
import { PortPool, type PortRange } from './services/port-pool.ts';
import { heldPortsOf, specOf } from './services/service-fields.ts';
import { ServiceNetwork } from './services/service-network.ts';
import { ServiceRepair } from './services/service-repair.ts';
import { DefinitionStore } from './strategies/custom-resource-definitions.ts';
import { NamespaceStore } from './strategies/namespaces.ts';
import { partStrategyOf, strategyOf, type StrategyParts } from './strategies/strategy-of.ts';
import { virtualStorages, type VirtualOptions } from './virtual-storages.ts';

/** How long `ready` waits for the caches that a server cannot do without. */
const READY_LIMIT_MS = 30_000;
const EVENT_TTL_SECONDS_DEFAULT = 60 * 60;
const SERVICE_CIDRS_DEFAULT = ['10.96.0.0/16'];
const NODE_PORTS_DEFAULT: PortRange = { first: 30_000, last: 32_767 };

/** Needed by admission of nearly every request: filled before the server says it is ready. */
const ESSENTIAL: readonly GroupResource[] = [{ group: '', resource: 'namespaces' }];

export interface RegistryOptions extends VirtualOptions {
  readonly store: Store;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly newUid?: () => string;
  /** Called once for each resource that gets a cache. */
  readonly cacheMetrics?: (resource: GroupResource) => WatchCacheMetrics;
  /** Absent: roles and bindings are not held against what their writer holds. */
  readonly guard?: EscalationGuard;
  /** Upstream's --event-ttl. */
  readonly eventTtlSeconds?: number;
  /** Upstream's --service-cluster-ip-range, split at the comma. */
  readonly serviceCidrs?: readonly string[];
  /** Upstream's --service-node-port-range. */
  readonly nodePorts?: PortRange;
  /** Upstream's --allow-privileged; absent: they are allowed. */
  readonly allowPrivileged?: boolean;
  /** The rest of the validation of kinds that hold expressions, by group and kind; it has code of its own to load. */
  readonly deepChecks?: Readonly<Record<string, DeepCheck | undefined>>;
}

/** Answers all errors of an object, given those found so far. Without `before` the object is new. */
export type DeepCheck = (
  object: KubernetesObject,
  before: KubernetesObject | undefined,
  found: FieldErrorList,
) => Promise<FieldErrorList> | FieldErrorList;

/** A resource that is served until it is disposed of. */
export interface AddedResource extends Disposable {
  readonly store: GenericStore;
}

export interface ObjectRegistry extends RestRegistry {
  /**
   * Serves one more resource from now on, until it is disposed of; its objects stay where they are kept. The definition
   * must not name a resource that is there already.
   */
  add(definition: ResourceDefinition): AddedResource;
  /** Fills the essential caches, the others when they are first needed; begins to repair what services hold. */
  start(): void;
  close(): void;
  /** Resolves when the essential caches are filled. */
  ready(): Promise<void>;
  /**
   * Starts the caches of all other resources: a watch that comes from a server that failed finds here what
   * happened after the version it has seen, also where no one has asked for the resource before.
   */
  warm(): void;
  /** This server's own view, for admission, authentication and authorization. */
  /** How many objects of each resource there are, of those that this server keeps a view of. */
  objectCounts(): readonly { readonly resource: GroupResource; readonly count: number }[];
  readonly reader: ObjectReader;
  readonly quotaWriter: QuotaWriter;
}

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

const checkedDefinition = (definition: ResourceDefinition, check: DeepCheck): ResourceDefinition => ({
  ...definition,
  async validateCreate(object) {
    return check(object, undefined, await definition.validateCreate(object));
  },
  async validateUpdate(object, before, subresource) {
    const errors = await definition.validateUpdate(object, before, subresource);
    return subresource === '' ? check(object, before, errors) : errors;
  },
});

/** Resources whose deletion takes more than one step. */
const OWN_STORES: Readonly<Record<string, typeof GenericStore | undefined>> = {
  namespaces: NamespaceStore,
  [DEFINITIONS]: DefinitionStore,
};

const keyOf = (group: string, plural: string, subresource: string): string =>
  `${groupResourceText({ group, resource: plural })}/${subresource}`;

export const createRegistry = (options: RegistryOptions): ObjectRegistry => {
  const { store, minor, clock, random, log, newUid = randomUUID } = options;
  const { eventTtlSeconds = EVENT_TTL_SECONDS_DEFAULT, guard } = options;
  const stores = new Map<string, GenericStore>();
  const byPrefix = new Map<string, GenericStore>();
  const storages = new Map<string, RestStorage>();
  const turns = new ListTurns();
  const { resources } = registryOf(minor);

  const find = (resource: GroupResource): GenericStore => {
    const found = stores.get(groupResourceText(resource));
    assert(found !== undefined, `${groupResourceText(resource)} are not kept`);
    return found;
  };
  const core = (resource: string): GenericStore => find({ group: '', resource });
  const network = (resource: string): GenericStore => find({ group: 'networking.k8s.io', resource });

  const open = (definition: ResourceDefinition): GenericStore => {
    const { type, strategy } = definition;
    const resource = { group: type.group, resource: type.plural };
    const made = new ResourceCore({
      definition,
      store,
      clock,
      random,
      log,
      newUid,
      cacheMetrics: options.cacheMetrics?.(resource),
      turns,
    });
    const Kind = OWN_STORES[groupResourceText(resource)] ?? GenericStore;
    return new Kind(made, strategy);
  };

  /** Kinds that are served in several groups or versions are kept once. */
  const add = (definition: ResourceDefinition): AddedResource => {
    const { type } = definition;
    const shared = byPrefix.get(type.storage.prefix);
    const made = shared ?? open(definition);
    byPrefix.set(type.storage.prefix, made);
    stores.set(groupResourceText({ group: type.group, resource: type.plural }), made);
    const paths = [keyOf(type.group, type.plural, '')];
    storages.set(paths[0]!, made);
    for (const { name } of type.subresources) {
      const part = definition.partStrategy(name);
      if (part === undefined) continue;
      const path = keyOf(type.group, type.plural, name);
      paths.push(path);
      storages.set(path, new PartStore(made, part, { isReadable: name !== 'finalize' }));
    }
    const removal = toDisposable(() => {
      for (const path of paths) storages.delete(path);
      stores.delete(groupResourceText({ group: type.group, resource: type.plural }));
      // Another group or version may still keep its objects there.
      if ([...stores.values()].includes(made)) return;
      byPrefix.delete(type.storage.prefix);
      made.core.close();
    });
    return { store: made, dispose: () => removal.dispose() };
  };

  const addBuiltIn = (types: readonly ResourceType[], parts: StrategyParts): void => {
    for (const type of types) {
      if (type.storage === undefined) continue;
      const resource = { group: type.group, resource: type.plural };
      const kept = byPrefix.get(type.storage.prefix)?.core.resource ?? resource;
      const strategy = strategyOf(kept, parts);
      const definition = builtInDefinition({
        type,
        minor,
        allowPrivileged: options.allowPrivileged ?? true,
        strategy,
        partStrategy: (name) => partStrategyOf(kept, name, strategy),
      });
      const check = options.deepChecks?.[groupKindText(type)];
      add(check ? checkedDefinition(definition, check) : definition);
    }
  };

  const isService = (type: ResourceType): boolean => type.group === '' && type.plural === 'services';
  addBuiltIn(
    resources.filter((type) => !isService(type)),
    { guard, eventTtlSeconds, services: {} },
  );
  const addressPool = new IpPool(
    network('ipaddresses'),
    network('servicecidrs'),
    options.serviceCidrs ?? SERVICE_CIDRS_DEFAULT,
  );
  const portPool = new PortPool({
    store,
    range: options.nodePorts ?? NODE_PORTS_DEFAULT,
    random,
    portsInUse: async () => {
      const services = core('services').core;
      const { objects } = await services.cache.list(services.prefix(''), { at: 'latest' });
      return objects.flatMap(({ object }) => heldPortsOf(specOf(object)));
    },
  });
  const serviceNetwork = new ServiceNetwork({ addresses: addressPool, ports: portPool, log });
  addBuiltIn(resources.filter(isService), { guard, eventTtlSeconds, services: serviceNetwork.strategy });
  for (const [path, storage] of virtualStorages({ find, store, clock, options })) storages.set(path, storage);

  const repair = new ServiceRepair({
    services: core('services'),
    addresses: network('ipaddresses'),
    addressPool,
    portPool,
    log,
  });
  let repairing: Disposable | undefined;
  const essential = (): GenericStore[] => ESSENTIAL.map(find);

  return {
    add,
    storageOf: (group, plural, subresource) => storages.get(keyOf(group, plural, subresource)),
    start() {
      for (const one of essential()) void one.core.cache;
      repairing ??= repair.start();
    },
    close() {
      repairing?.dispose();
      for (const one of byPrefix.values()) one.core.close();
    },
    async ready() {
      await Promise.all(essential().map((one) => one.core.cache.ready(READY_LIMIT_MS)));
    },
    warm() {
      for (const one of byPrefix.values()) void one.core.cache;
    },
    objectCounts: () =>
      [...byPrefix.values()].flatMap(({ core: { resource, cacheIfStarted } }) =>
        cacheIfStarted ? [{ resource, count: cacheIfStarted.size }] : [],
      ),
    reader: createObjectReader((resource) => stores.get(groupResourceText(resource))),
    quotaWriter: createQuotaWriter(core('resourcequotas'), OWN_SCOPE),
  };
};
