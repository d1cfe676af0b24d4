import { componentOnNode } from '../../base/bind-rules.ts';
import type { Random } from '../../base/random.ts';
import { serviceUnavailable, type KubernetesObject } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { int, num, obj, objs, str, strs } from '../../api/validation/read.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import { addressPolicy } from '../kubelet-proxy/proxyable-address.ts';
import type { ServiceReference } from './target.ts';

export interface ResolvedEndpoint {
  readonly host: string;
  readonly port: number;
}

/** Finds where a Service is reached right now. */
export type ResolveService = (
  service: Pick<ServiceReference, 'namespace' | 'name'> & { readonly port: number },
) => Promise<ResolvedEndpoint>;

export interface ServiceResolverOptions {
  readonly reader: ObjectReader;
  readonly random: Random;
  /** Where this server is told to be: which addresses are the cluster's own follows from it. */
  readonly advertiseAddress: string;
  /** Ports of the control plane that may be reached nevertheless: those of its own extension servers. */
  readonly ownPorts?: readonly number[];
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const SERVICES = { group: '', resource: 'services' };
const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const ROUTED_TYPES = ['ClusterIP', 'LoadBalancer', 'NodePort'];

/** Slices of the first IP family first; apart from that in any order. */
const preferred = (
  slices: readonly KubernetesObject[],
  service: KubernetesObject,
  random: Random,
): KubernetesObject[] => {
  const [family] = strs(obj(service, 'spec'), 'ipFamilies');
  const ranked = slices.map((slice) => ({
    slice,
    rank: (str(slice, 'addressType') === family ? 0 : 1) + random.next(),
  }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ slice }) => slice);
};

/** One ready endpoint of a Service, in upstream's order and words. */
export const createServiceResolver = ({
  reader,
  random,
  advertiseAddress,
  ownPorts = [],
}: ServiceResolverOptions): ResolveService => {
  const addresses = addressPolicy(advertiseAddress);
  /** No credentials are sent, and still: ports of the control plane are not for objects to point at. */
  const isAllowed = (host: string, port: number): boolean =>
    addresses.isClusterAddress(host) &&
    (ownPorts.includes(port) || componentOnNode(port, true) === undefined);

  return async ({ namespace, name, port }) => {
    const service = await reader.get(SERVICES, namespace, name);
    if (!service) throw new Error(`service ${goQuote(name)} not found`);
    const type = str(obj(service, 'spec'), 'type') || 'ClusterIP';
    if (!ROUTED_TYPES.includes(type)) throw new Error(`unsupported service type ${goQuote(type)}`);
    const declared = objs(obj(service, 'spec'), 'ports').find((one) => num(one, 'port') === port);
    if (!declared) throw serviceUnavailable(`no service port ${port} found for service ${goQuote(name)}`);
    const slices = (await reader.list(ENDPOINT_SLICES, namespace)).filter(
      (slice) => slice.metadata?.labels?.[SERVICE_NAME_LABEL] === name,
    );
    for (const slice of preferred(slices, service, random)) {
      const target = objs(slice, 'ports').find((one) => str(one, 'name') === str(declared, 'name'));
      const targetPort = target ? int(target, 'port') : 0;
      const endpoints = objs(slice, 'endpoints');
      if (targetPort === 0 || endpoints.length === 0) continue;
      const offset = random.below(endpoints.length);
      for (let at = 0; at < endpoints.length; at += 1) {
        const endpoint = endpoints[(at + offset) % endpoints.length]!;
        const [host] = strs(endpoint, 'addresses');
        if (host === undefined || obj(endpoint, 'conditions')['ready'] === false) continue;
        if (isAllowed(host, targetPort)) return { host, port: targetPort };
      }
    }
    throw serviceUnavailable(`no endpoints available for service ${goQuote(name)}`);
  };
};
