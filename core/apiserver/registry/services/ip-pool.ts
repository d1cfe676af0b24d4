import { isAlreadyExists, isNotFound, type KubernetesObject } from '../../../api/meta/index.ts';
import { isConditionTrue, type Condition } from '../../../api/meta/index.ts';
import { ReasonError } from '../../../base/errors.ts';
import { obj, strs } from '../../../api/validation/read.ts';
import { userInfo } from '../../server/user.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import type { Scope } from '../rest-storage.ts';
import { AddressRange, type IpFamily } from './address-range.ts';

/** What stands in the way; upstream's words, which reach the client. */
export type PoolReason = 'Full' | 'Allocated' | 'OutOfRange';

const TEXTS: Readonly<Record<PoolReason, string>> = {
  Full: 'range is full',
  Allocated: 'provided IP is already allocated',
  OutOfRange: 'the provided network does not match the current range',
};

export class PoolError extends ReasonError<PoolReason> {
  constructor(reason: PoolReason) {
    super(reason, TEXTS[reason]);
  }
}

export const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family';
export const MANAGED_BY_LABEL = 'ipaddress.kubernetes.io/managed-by';
export const ALLOCATOR = 'ipallocator.k8s.io';
/** Addresses tried that others took a moment before. */
const COLLISIONS_MAX = 100;

export const OWN_SCOPE: Scope = {
  user: userInfo('system:apiserver', ['system:masters']),
  namespace: '',
  signal: new AbortController().signal,
  warn() {},
};

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Cluster addresses. Each one given out is an IPAddress object, created in one transaction: of two servers that pick the
 * same address, one is told that it exists.
 */
export class IpPool {
  readonly #addresses: GenericStore;
  readonly #cidrs: GenericStore;
  /** Upstream's --service-cluster-ip-range: one range, or one for each family. */
  readonly #configured: readonly AddressRange[];
  readonly #ranges = new Map<string, AddressRange>();

  constructor(addresses: GenericStore, cidrs: GenericStore, configured: readonly string[]) {
    this.#addresses = addresses;
    this.#cidrs = cidrs;
    this.#configured = configured.map((cidr) => new AddressRange(cidr));
  }

  /** The first configured range decides what services get that ask for nothing. */
  get defaultFamily(): IpFamily {
    return this.#configured[0]?.family ?? 'IPv4';
  }

  get families(): readonly IpFamily[] {
    return [...new Set(this.#configured.map(({ family }) => family))];
  }

  get configuredCidrs(): readonly string[] {
    return this.#configured.map(({ cidr }) => cidr);
  }

  async take(address: string, service: ServiceName, isDryRun: boolean): Promise<void> {
    const range = (await this.#ready()).find((one) => one.contains(address));
    if (range === undefined) throw new PoolError('OutOfRange');
    if (!range.isUsable(address))
      throw new ReasonError<PoolReason>(
        'OutOfRange',
        `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.cidr}`,
      );
    if (!isDryRun) await this.#create(address, range.family, service);
  }

  async takeNext(family: IpFamily, service: ServiceName, isDryRun: boolean): Promise<string> {
    let collisions = 0;
    const { cache } = this.#addresses.core;
    await cache.ready();
    for (const range of await this.#ready()) {
      if (range.family !== family) continue;
      if (isDryRun) return range.firstAddress;
      for (const address of range.candidates(this.#addresses.core.random)) {
        if (cache.peek(this.#addresses.core.key('', address)) !== undefined) continue;
        try {
          await this.#create(address, family, service);
          return address;
        } catch (error) {
          collisions += 1;
          if (!(error instanceof PoolError) || collisions > COLLISIONS_MAX) throw error;
        }
      }
    }
    throw new PoolError('Full');
  }

  async release(address: string): Promise<void> {
    try {
      await this.#addresses.delete(OWN_SCOPE, address, { dryRun: false, validate: async () => {} });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #create(address: string, family: IpFamily, { namespace, name }: ServiceName): Promise<void> {
    const object: KubernetesObject = {
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: address, labels: { [FAMILY_LABEL]: family, [MANAGED_BY_LABEL]: ALLOCATOR } },
      spec: { parentRef: { group: '', resource: 'services', namespace, name } },
    };
    try {
      await this.#addresses.create(OWN_SCOPE, object, { dryRun: false, validate: async () => {} });
    } catch (error) {
      if (isAlreadyExists(error)) throw new PoolError('Allocated');
      throw error;
    }
  }

  /** The configured ranges, then those of ServiceCIDR objects that are ready and not on their way out. */
  async #ready(): Promise<readonly AddressRange[]> {
    const { core } = this.#cidrs;
    const { objects } = await core.cache.list(core.prefix(''), { at: 'any' });
    const added = objects
      .filter(
        ({ object }) =>
          object.metadata?.deletionTimestamp === undefined &&
          isConditionTrue((obj(object, 'status')['conditions'] ?? []) as Condition[], 'Ready'),
      )
      .flatMap(({ object }) => strs(obj(object, 'spec'), 'cidrs'))
      .filter((cidr) => !this.configuredCidrs.includes(cidr));
    return [...this.#configured, ...added.map((cidr) => this.#rangeOf(cidr))];
  }

  #rangeOf(cidr: string): AddressRange {
    const known = this.#ranges.get(cidr) ?? new AddressRange(cidr);
    this.#ranges.set(cidr, known);
    return known;
  }
}
