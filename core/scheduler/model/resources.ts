import { quantityFrom } from '../../api/quantity/index.ts';
import type { Container, ContainerStatus, Pod, ResourceList } from './objects.ts';

export const CPU = 'cpu';
export const MEMORY = 'memory';
export const EPHEMERAL_STORAGE = 'ephemeral-storage';
export const PODS = 'pods';

/** What a container that asks for nothing is counted with when nodes are scored, so that such pods spread too. */
export const DEFAULT_MILLI_CPU_REQUEST = 100;
export const DEFAULT_MEMORY_REQUEST_BYTES = 200 * 1024 * 1024;

/** Distinct spellings of quantities kept; a cluster uses a few dozen. */
const QUANTITIES_MAX = 4096;
const values = new Map<string, number>();

/**
 * CPU in thousandths, everything else in whole units, rounded up. Doubles are exact up to 2^53, which is
 * 9 petabytes: sums of requests stay exact.
 */
export const amountOf = (resource: string, quantity: string | number | undefined): number => {
  if (quantity === undefined) return 0;
  const isCpu = resource === CPU;
  const text = `${isCpu ? 'm' : 'u'}${quantity}`;
  const known = values.get(text);
  if (known !== undefined) return known;
  const parsed = quantityFrom(quantity);
  const amount = Number(isCpu ? parsed.milliValue() : parsed.value());
  if (values.size >= QUANTITIES_MAX) values.clear();
  values.set(text, amount);
  return amount;
};

export type Amounts = Map<string, number>;

const addTo = (sum: Amounts, more: ReadonlyMap<string, number>): void => {
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0) + amount);
};

const maxInto = (sum: Amounts, other: ReadonlyMap<string, number>): void => {
  for (const [name, amount] of other) if (amount > (sum.get(name) ?? 0)) sum.set(name, amount);
};

const amountsOf = (list: ResourceList | undefined): Amounts => {
  const amounts: Amounts = new Map();
  if (list) for (const name in list) amounts.set(name, amountOf(name, list[name]));
  return amounts;
};

/** A container being resized holds the most of what it asks for, was given, and runs with. */
const containerRequests = (
  container: Container,
  status: ContainerStatus | undefined,
  nonMissing: boolean,
): Amounts => {
  const amounts = amountsOf(container.resources?.requests);
  if (status?.allocatedResources) maxInto(amounts, amountsOf(status.allocatedResources));
  if (status?.resources?.requests) maxInto(amounts, amountsOf(status.resources.requests));
  if (nonMissing) {
    if (!amounts.has(CPU)) amounts.set(CPU, DEFAULT_MILLI_CPU_REQUEST);
    if (!amounts.has(MEMORY)) amounts.set(MEMORY, DEFAULT_MEMORY_REQUEST_BYTES);
  }
  return amounts;
};

/** Only these may be set for the pod as a whole. */
const isPodLevelResource = (name: string): boolean =>
  name === CPU || name === MEMORY || name.startsWith('hugepages-');

/**
 * What the pod occupies on a node: its containers together, or the greediest moment of its start (an init
 * container beside the sidecars that are already up), plus the overhead of its runtime class.
 */
export const podRequests = (pod: Pod, options: { readonly nonMissing: boolean }): Amounts => {
  const { spec, status } = pod;
  const statusOf = (
    list: readonly ContainerStatus[] | undefined,
    name: string,
  ): ContainerStatus | undefined => list?.find((candidate) => candidate.name === name);
  const total: Amounts = new Map();
  for (const container of spec.containers)
    addTo(
      total,
      containerRequests(container, statusOf(status?.containerStatuses, container.name), options.nonMissing),
    );
  if (spec.initContainers?.length) {
    const sidecars: Amounts = new Map();
    const atStart: Amounts = new Map();
    for (const container of spec.initContainers) {
      const requests = containerRequests(
        container,
        statusOf(status?.initContainerStatuses, container.name),
        options.nonMissing,
      );
      if (container.restartPolicy === 'Always') {
        addTo(total, requests);
        addTo(sidecars, requests);
        maxInto(atStart, sidecars);
      } else {
        const moment = new Map(requests);
        addTo(moment, sidecars);
        maxInto(atStart, moment);
      }
    }
    maxInto(total, atStart);
  }
  for (const [name, amount] of amountsOf(spec.resources?.requests))
    if (isPodLevelResource(name)) total.set(name, amount);
  if (spec.overhead) addTo(total, amountsOf(spec.overhead));
  return total;
};

/** Extended, hugepages and attachable resources: those that have no column of their own. */
export const isScalarResource = (name: string): boolean =>
  name !== CPU && name !== MEMORY && name !== EPHEMERAL_STORAGE && name !== PODS;

export const isExtendedResource = (name: string): boolean =>
  name.includes('/') && !/^([^/]*\.)?kubernetes\.io\//.test(name) && !name.startsWith('requests.');
