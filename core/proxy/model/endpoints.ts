import { isIPv4 } from 'node:net';
import { inIpv4Range, LOOPBACK, type Ipv4Range } from '../../base/bind-rules.ts';
import type { EndpointSlice } from '../../client/index.ts';
import { targetAt, type Target } from '../forwarding/index.ts';
import type { ServicePort } from './service-port.ts';

/** One address and port behind a service. */
export interface Endpoint extends Target {
  readonly nodeName: string | undefined;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  /** For whom the control plane means it; undefined: for everybody. */
  readonly forZones: readonly string[] | undefined;
  readonly forNodes: readonly string[] | undefined;
}

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** `namespace/name` of the service that a slice belongs to. */
export const serviceOf = (slice: EndpointSlice): string | undefined => {
  const name = slice.metadata?.labels?.[SERVICE_NAME_LABEL];
  return name === undefined || name === '' ? undefined : `${slice.metadata?.namespace ?? ''}/${name}`;
};

const namesOf = (hints: readonly { readonly name: string }[] | null | undefined) =>
  hints && hints.length > 0 ? hints.map(({ name }) => name) : undefined;

/** A ready one stands for the other when two slices name one address: a pod moves between slices that way. */
const better = (a: Endpoint | undefined, b: Endpoint): Endpoint => {
  const rank = ({ isReady, isServing }: Endpoint): number => (isReady ? 2 : isServing ? 1 : 0);
  return a && rank(a) >= rank(b) ? a : b;
};

const everywhere = (): boolean => true;

/**
 * Where endpoints may be. Upstream refuses loopback endpoints, which would make the proxy a way to programs of its own
 * machine; here pods have loopback addresses, so those of the cluster's own ranges are let through.
 */
export const servedEndpoints = (ranges: readonly Ipv4Range[]): ((address: string) => boolean) =>
  ranges.length === 0
    ? everywhere
    : (address) => !inIpv4Range(LOOPBACK, address) || ranges.some((range) => inIpv4Range(range, address));

/** The endpoints of one port, each once, by address so that their order does not depend on that of the slices. */
export const endpointsOf = (
  slices: readonly EndpointSlice[],
  port: ServicePort,
  isServed: (address: string) => boolean = everywhere,
): readonly Endpoint[] => {
  const found = new Map<string, Endpoint>();
  for (const slice of slices) {
    if (slice.addressType !== 'IPv4') continue;
    const numbers = (slice.ports ?? [])
      .filter(({ name, protocol }) => (name ?? '') === port.name && (protocol ?? 'TCP') === port.protocol)
      .flatMap(({ port: number }) => (number ? [number] : []));
    for (const { addresses, conditions, nodeName, hints } of slice.endpoints ?? []) {
      // All addresses of one endpoint are the same pod, and consumers use the first.
      const address = (addresses as readonly string[] | undefined)?.[0];
      if (address === undefined || !isIPv4(address) || !isServed(address)) continue;
      for (const number of numbers) {
        const target = targetAt(address, number);
        const isReady = conditions?.ready ?? true;
        const endpoint: Endpoint = {
          ...target,
          nodeName: nodeName || undefined,
          isReady,
          isServing: conditions?.serving ?? isReady,
          isTerminating: conditions?.terminating ?? false,
          forZones: namesOf(hints?.forZones),
          forNodes: namesOf(hints?.forNodes),
        };
        found.set(target.name, better(found.get(target.name), endpoint));
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};
