import { internalError, invalid as invalidStatus, type KubernetesObject } from '../../../api/meta/index.ts';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { causesOf, invalid, type FieldError } from '../../../api/field/field-error.ts';
import { clusterIpErrors } from '../../../api/validation/kinds/service.ts';
import { fromStorage } from '../generic/storage-errors.ts';
import type { Claim, Strategy, WriteContext } from '../generic/strategy.ts';
import type { IpFamily } from './address-range.ts';
import { fillIpFamilies, keepsPreferredFamilies } from './ip-families.ts';
import { PoolError, type IpPool, type PoolReason, type ServiceName } from './ip-pool.ts';
import type { PortPool, PortReason } from './port-pool.ts';
import {
  allocatesNodePorts,
  clusterIpsOf,
  dropForType,
  heldPortsOf,
  isExposed,
  isHeadless,
  joinClusterIps,
  keepAllocated,
  needsClusterIp,
  needsHealthCheckPort,
  nodePortsOf,
  specOf,
  type ServiceSpec,
} from './service-fields.ts';

const KIND = { group: '', kind: 'Service' };

const RESOURCE = { group: '', resource: 'services' };
const REFUSALS: ReadonlySet<string> = new Set<PoolReason | PortReason>(['Full', 'Allocated', 'OutOfRange']);

/** A pool that says no, as against one that could not be asked. */
const isRefusal = (error: unknown): boolean => error instanceof ReasonError && REFUSALS.has(error.reason);

const refuse = (name: string, errors: readonly FieldError[]): void => {
  if (errors.length > 0) throw invalidStatus(KIND, name, causesOf(errors));
};

/** What one write took and what it gives up, settled when the write is. */
class Taken {
  readonly addresses: string[] = [];
  readonly ports: number[] = [];
}

export interface ServiceNetworkOptions {
  readonly addresses: IpPool;
  readonly ports: PortPool;
  readonly log: Log;
}

/** Gives services their cluster addresses and node ports, and takes them back. */
export class ServiceNetwork {
  readonly #options: ServiceNetworkOptions;

  constructor(options: ServiceNetworkOptions) {
    this.#options = options;
  }

  get strategy(): Strategy {
    return {
      allowCreateOnUpdate: true,
      returnsDeletedObject: true,
      resetFields: [['status']],
      prepareForCreate: (draft) => {
        delete draft['status'];
        const spec = structuredClone(specOf(draft));
        draft['spec'] = spec;
        joinClusterIps(spec, undefined);
      },
      prepareForUpdate: (draft, old) => {
        const [spec, before] = [structuredClone(specOf(draft)), specOf(old)];
        draft['spec'] = spec;
        keepAllocated(spec, before);
        joinClusterIps(spec, before);
        dropForType(spec, before);
        draft['status'] =
          spec.type === 'LoadBalancer'
            ? old['status']
            : { ...(old['status'] as Record<string, unknown> | undefined), loadBalancer: {} };
      },
      claim: (draft, old, context) => this.#claim(draft, old, context),
      afterDelete: (service) => this.release(service),
    };
  }

  /** Everything a service holds goes back. What fails is left for the repair to find. */
  async release(service: KubernetesObject): Promise<void> {
    const spec = specOf(service);
    await this.#giveBack(clusterIpsOf(spec), heldPortsOf(spec));
  }

  async #claim(
    draft: KubernetesObject,
    old: KubernetesObject | undefined,
    context: WriteContext,
  ): Promise<Claim> {
    const { name = '' } = draft.metadata ?? {};
    const service = { namespace: context.namespace, name };
    const spec = specOf(draft);
    const before = old === undefined ? undefined : specOf(old);
    const taken = new Taken();
    try {
      const keepsFamilies = keepsPreferredFamilies(spec, before);
      if (!keepsFamilies) refuse(name, clusterIpErrors(draft));
      refuse(name, fillIpFamilies(spec, before, this.#options.addresses));
      if (!keepsFamilies) await this.#takeAddresses(spec, before, service, taken, context.isDryRun);
      await this.#takePorts(spec, before, name, taken, context.isDryRun);
    } catch (error) {
      if (!context.isDryRun) await this.#giveBack(taken.addresses, taken.ports);
      throw error;
    }
    if (context.isDryRun) return { keep() {}, release() {} };
    return {
      keep: () => {
        if (before === undefined) return undefined;
        const [addresses, ports] = [clusterIpsOf(spec), heldPortsOf(spec)];
        return this.#giveBack(
          clusterIpsOf(before).filter((one) => !addresses.includes(one)),
          heldPortsOf(before).filter((one) => !ports.includes(one)),
        );
      },
      release: () => this.#giveBack(taken.addresses, taken.ports),
    };
  }

  async #takeAddresses(
    spec: ServiceSpec,
    before: ServiceSpec | undefined,
    service: ServiceName,
    taken: Taken,
    isDryRun: boolean,
  ): Promise<void> {
    if (!needsClusterIp(spec) || isHeadless(spec)) return;
    const held = before === undefined ? [] : clusterIpsOf(before);
    // A headless service never gets an address later.
    if (before !== undefined && isHeadless(before)) return;
    const ips = [...(spec.clusterIPs ?? [])];
    for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
      const wanted = ips[i] ?? '';
      if (wanted !== '' && held.includes(wanted)) continue;
      // The first address never changes while the service has one: validation refuses it.
      if (i === 0 && held.length > 0) continue;
      ips[i] = await this.#takeAddress(family as IpFamily, wanted, ips, service, isDryRun);
      taken.addresses.push(ips[i]);
    }
    spec.clusterIPs = ips;
    if (ips[0] !== undefined) spec.clusterIP = ips[0];
  }

  async #takeAddress(
    family: IpFamily,
    wanted: string,
    ips: readonly string[],
    service: ServiceName,
    isDryRun: boolean,
  ): Promise<string> {
    const { addresses } = this.#options;
    const asked = ips.filter((ip) => ip !== '');
    const path = 'spec.clusterIPs';
    try {
      if (wanted === '') return await addresses.takeNext(family, service, isDryRun);
      await addresses.take(wanted, service, isDryRun);
      return wanted;
    } catch (error) {
      if (error instanceof PoolError && error.reason === 'Full')
        throw internalError(
          `failed to allocate a serviceIP for Service ${JSON.stringify(service.name)}: ${error.message}`,
          error,
        );
      if (!isRefusal(error)) throw fromStorage(error, 'create', RESOURCE, service.name);
      const why = `failed to allocate IP${wanted === '' ? '' : ` ${wanted}`}: ${messageOf(error)}`;
      refuse(service.name, [invalid(path, asked, why)]);
      throw error;
    }
  }

  async #takePorts(
    spec: ServiceSpec,
    before: ServiceSpec | undefined,
    name: string,
    taken: Taken,
    isDryRun: boolean,
  ): Promise<void> {
    if (isExposed(spec)) await this.#takeNodePorts(spec, before, name, taken, isDryRun);
    const hadCheck = before !== undefined && needsHealthCheckPort(before);
    if (needsHealthCheckPort(spec) && !hadCheck) await this.#takeHealthCheckPort(spec, taken, isDryRun);
  }

  async #takeNodePorts(
    spec: ServiceSpec,
    before: ServiceSpec | undefined,
    name: string,
    taken: Taken,
    isDryRun: boolean,
  ): Promise<void> {
    const { ports } = this.#options;
    const held = before === undefined ? [] : nodePortsOf(before);
    /** One port number under two protocols shares a node port. */
    const byPort = new Map<number, number>();
    for (const port of spec.ports ?? []) if (port.nodePort) byPort.set(port.port, port.nodePort);
    for (const [i, port] of (spec.ports ?? []).entries()) {
      const wanted = port.nodePort ?? (before === undefined ? byPort.get(port.port) : undefined);
      if (wanted === undefined && !allocatesNodePorts(spec)) continue;
      if (wanted === undefined) {
        const next = await this.#nextPort('failed to allocate a nodePort', isDryRun);
        if (!isDryRun) taken.ports.push(next);
        port.nodePort = next;
        byPort.set(port.port, next);
        continue;
      }
      port.nodePort = wanted;
      if (held.includes(wanted) || taken.ports.includes(wanted)) continue;
      try {
        await ports.take(wanted, isDryRun);
      } catch (error) {
        if (!isRefusal(error)) throw fromStorage(error, 'update', RESOURCE, name);
        refuse(name, [invalid(`spec.ports[${i}].nodePort`, wanted, messageOf(error))]);
      }
      taken.ports.push(wanted);
    }
  }

  async #takeHealthCheckPort(spec: ServiceSpec, taken: Taken, isDryRun: boolean): Promise<void> {
    const { ports } = this.#options;
    const wanted = spec.healthCheckNodePort;
    if (!wanted) {
      spec.healthCheckNodePort = await this.#nextPort(
        'failed to allocate a HealthCheck NodePort 0',
        isDryRun,
      );
      if (!isDryRun) taken.ports.push(spec.healthCheckNodePort);
      return;
    }
    try {
      await ports.take(wanted, isDryRun);
      taken.ports.push(wanted);
    } catch (error) {
      if (!isRefusal(error)) throw fromStorage(error, 'update', RESOURCE);
      throw internalError(
        `failed to allocate requested HealthCheck NodePort ${wanted}: ${messageOf(error)}`,
        error,
      );
    }
  }

  async #nextPort(what: string, isDryRun: boolean): Promise<number> {
    try {
      return await this.#options.ports.takeNext(isDryRun);
    } catch (error) {
      if (!isRefusal(error)) throw fromStorage(error, 'update', RESOURCE);
      throw internalError(`${what}: ${messageOf(error)}`, error);
    }
  }

  async #giveBack(addresses: readonly string[], ports: readonly number[]): Promise<void> {
    const { log } = this.#options;
    const left = (error: unknown): void =>
      log.write('warn', 'a service left addresses or ports behind until the next repair', {
        addresses,
        ports,
        error: messageOf(error),
      });
    await Promise.all(addresses.map((address) => this.#options.addresses.release(address))).catch(left);
    await this.#options.ports.release(ports).catch(left);
  }
}
