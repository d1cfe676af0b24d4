import type { Random } from '../../base/random.ts';
import { serviceUnavailable, StatusError, type KubernetesObject } from '../../api/meta/index.ts';
import { goQuote } from '../../api/validation/go-text.ts';
import { int, maybeObj, num, obj, objs, str, strs, type Obj } from '../../api/validation/read.ts';
import type { ObjectReader } from '../admission/object-reader.ts';
import type { AddressPolicy } from '../kubelet-proxy/proxyable-address.ts';
import type { ServiceReference } from './api-service.ts';

export const SERVICES = { group: '', resource: 'services' } as const;
export const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' } as const;
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const ROUTED_TYPES = new Set(['ClusterIP', 'LoadBalancer', 'NodePort']);

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface ServiceRoutes {
  readonly reader: ObjectReader;
  readonly random: Random;
  readonly addresses: AddressPolicy;
}

/** Which Service a slice belongs to, as `namespace/name`. */
export const serviceKeyOfSlice = ({ metadata }: KubernetesObject): string =>
  `${metadata?.namespace ?? ''}/${metadata?.labels?.[SERVICE_NAME_LABEL] ?? ''}`;

export const slicesOf = async (
  reader: ObjectReader,
  { namespace, name }: ServiceReference,
): Promise<readonly KubernetesObject[]> =>
  (await reader.list(ENDPOINT_SLICES, namespace)).filter(
    (slice) => slice.metadata?.labels?.[SERVICE_NAME_LABEL] === name,
  );

export const isReady = (endpoint: Obj): boolean => obj(endpoint, 'conditions')['ready'] !== false;

/** Whoever may write EndpointSlices names addresses; this server must not be led to where its own network begins. */
const mayConnect = async ({ reader, addresses }: ServiceRoutes, endpoint: Obj): Promise<boolean> => {
  const address = strs(endpoint, 'addresses')[0] ?? '';
  const target = maybeObj(endpoint, 'targetRef');
  if (target === undefined || str(target, 'kind') !== 'Pod') return addresses.isNodeAddress(address);
  const pod = await reader.get(
    { group: '', resource: 'pods' },
    str(target, 'namespace'),
    str(target, 'name'),
  );
  const nodeName = pod ? str(obj(pod, 'spec'), 'nodeName') : '';
  const node = await reader.get({ group: '', resource: 'nodes' }, '', nodeName);
  return addresses.isPodAddress(address, node) || addresses.isNodeAddress(address);
};

/**
 * One ready endpoint of the Service. Unlike upstream without --enable-aggregator-routing, cluster addresses are never
 * used: an endpoint can be checked against where this server may connect to.
 */
export const resolveService = async (
  routes: ServiceRoutes,
  reference: ServiceReference,
): Promise<Endpoint> => {
  const { reader, random } = routes;
  const service = await reader.get(SERVICES, reference.namespace, reference.name);
  if (service === undefined)
    throw new StatusError('NotFound', `service ${goQuote(reference.name)} not found`, { code: 404 });
  const spec = obj(service, 'spec');
  const type = str(spec, 'type') || 'ClusterIP';
  if (!ROUTED_TYPES.has(type))
    throw new StatusError('', `unsupported service type ${goQuote(type)}`, { code: 500 });
  const port = objs(spec, 'ports').find((one) => num(one, 'port') === reference.port);
  if (port === undefined)
    throw serviceUnavailable(
      `no service port ${reference.port} found for service ${goQuote(reference.name)}`,
    );
  const slices = [...(await slicesOf(reader, reference))];
  const preferred = strs(spec, 'ipFamilies')[0];
  const first = slices.length === 0 ? 0 : random.below(slices.length);
  const turned = [...slices.slice(first), ...slices.slice(0, first)].sort(
    (a, b) => Number(str(b, 'addressType') === preferred) - Number(str(a, 'addressType') === preferred),
  );
  for (const slice of turned) {
    const target = objs(slice, 'ports').find((one) => str(one, 'name') === str(port, 'name'));
    const endpoints = objs(slice, 'endpoints');
    if (target === undefined || int(target, 'port') === 0 || endpoints.length === 0) continue;
    const offset = random.below(endpoints.length);
    for (let at = 0; at < endpoints.length; at += 1) {
      const endpoint = endpoints[(at + offset) % endpoints.length]!;
      if (isReady(endpoint) && (await mayConnect(routes, endpoint)))
        return { host: strs(endpoint, 'addresses')[0]!, port: int(target, 'port') };
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${goQuote(reference.name)}`);
};
