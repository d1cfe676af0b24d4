import { isNotFound, parseTime, type KubernetesObject } from '../../../api/meta/index.ts';
import { messageOf } from '../../../base/errors.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import type { Log } from '../../../base/log.ts';
import { obj, str } from '../../../api/validation/read.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import { ALLOCATOR, MANAGED_BY_LABEL, OWN_SCOPE, PoolError, type IpPool } from './ip-pool.ts';
import type { PortPool } from './port-pool.ts';
import { clusterIpsOf, heldPortsOf, specOf } from './service-fields.ts';

/** Upstream's period. */
const INTERVAL_MS = 3 * 60_000;
const FIRST_MS = 5_000;
/** An address may be a moment older than the service it was taken for. */
const ORPHAN_AGE_MS = 60_000;
/** Rounds in which a port must be seen to belong to no one, as upstream counts. */
const LEAK_ROUNDS = 3;

export interface ServiceRepairOptions {
  readonly services: GenericStore;
  readonly addresses: GenericStore;
  readonly addressPool: IpPool;
  readonly portPool: PortPool;
  readonly log: Log;
}

/** Makes addresses and ports agree with the services that hold them, after crashes between two writes. */
export class ServiceRepair {
  readonly #options: ServiceRepairOptions;
  /** Ports marked and held by no one, with the rounds they were seen so. */
  #suspects = new Map<number, number>();

  constructor(options: ServiceRepairOptions) {
    this.#options = options;
  }

  /** Every few minutes until disposed. */
  start(): Disposable {
    const { core } = this.#options.services;
    const { log } = this.#options;
    let timer: Disposable | undefined;
    let isOpen = true;
    const round = async (): Promise<void> => {
      try {
        await this.runOnce();
      } catch (error) {
        log.write('warn', 'addresses and ports of services could not be checked', {
          error: messageOf(error),
        });
      }
      if (isOpen)
        timer = core.clock.after(INTERVAL_MS * (0.9 + 0.2 * core.random.next()), () => void round());
    };
    timer = core.clock.after(FIRST_MS * core.random.next(), () => void round());
    return toDisposable(() => {
      isOpen = false;
      timer?.dispose();
    });
  }

  async runOnce(): Promise<void> {
    const { core } = this.#options.services;
    const { objects } = await core.cache.list(core.prefix(''), { at: 'latest' });
    const services = objects.map(({ object }) => object);
    await this.#repairAddresses(services);
    await this.#repairPorts(services);
  }

  async #repairAddresses(services: readonly KubernetesObject[]): Promise<void> {
    const { addresses, addressPool, log } = this.#options;
    const { objects } = await addresses.core.cache.list(addresses.core.prefix(''), { at: 'latest' });
    const known = new Set(objects.map(({ object }) => object.metadata?.name));
    for (const { metadata = {}, ...service } of services)
      for (const address of clusterIpsOf(specOf(service))) {
        if (known.has(address)) continue;
        const name = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
        log.write('info', 'the address of a service had no object', { address, ...name });
        await addressPool.take(address, name, false).catch((error: unknown) => {
          if (!(error instanceof PoolError)) throw error;
        });
      }
    for (const { object } of objects) await this.#releaseOrphan(object);
  }

  async #releaseOrphan(address: KubernetesObject): Promise<void> {
    const { services, addresses, log } = this.#options;
    const { name = '', uid, labels, creationTimestamp } = address.metadata ?? {};
    if (labels?.[MANAGED_BY_LABEL] !== ALLOCATOR) return;
    const ageMs = services.core.clock.nowMs() - (parseTime(creationTimestamp ?? '') ?? Infinity);
    if (ageMs < ORPHAN_AGE_MS) return;
    const parent = obj(obj(address, 'spec'), 'parentRef');
    const scope = { ...OWN_SCOPE, namespace: str(parent, 'namespace') };
    try {
      const { object } = await services.get(scope, str(parent, 'name'), { resourceVersion: '' });
      if (clusterIpsOf(specOf(object)).includes(name)) return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    log.write('info', 'an address belongs to no service and is freed', { address: name });
    await addresses
      .delete(OWN_SCOPE, name, { dryRun: false, preconditions: { uid }, validate: async () => {} })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }

  async #repairPorts(services: readonly KubernetesObject[]): Promise<void> {
    const inUse = new Set(services.flatMap((service) => heldPortsOf(specOf(service))));
    const next = new Map<number, number>();
    await this.#options.portPool.repair(inUse, (port) => {
      const rounds = (this.#suspects.get(port) ?? 0) + 1;
      if (rounds >= LEAK_ROUNDS) return true;
      next.set(port, rounds);
      return false;
    });
    this.#suspects = next;
  }
}
