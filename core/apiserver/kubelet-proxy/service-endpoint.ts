import { serviceUnavailable, type KubernetesObject } from '../../api/meta/index.ts';
import { int, maybeObj, num, obj, objs, str, strs, type Obj } from '../../api/validation/read.ts';
import type { Random } from '../../base/random.ts';
import type { ObjectReader } from '../storage/object-reader.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface ServiceEndpoints {
  readonly reader: ObjectReader;
  readonly random: Random;
  /** Whether this server may connect to an address of that pod. */
  readonly isAllowed: (address: string, pod: KubernetesObject) => Promise<boolean>;
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const INTEGER = /^[+-]?\d+$/;

/** A port given by number is looked up among the service's; a name is the name that endpoints carry. */
const portNameOf = (service: KubernetesObject, port: string): string => {
  if (!INTEGER.test(port)) return port;
  const declared = objs(obj(service, 'spec'), 'ports').find((one) => num(one, 'port') === Number(port));
  if (declared) return str(declared, 'name');
  throw serviceUnavailable(
    `no service port ${Number(port)} found for service "${service.metadata?.name ?? ''}"`,
  );
};

const shuffled = <T>(items: readonly T[], random: Random): T[] => {
  const left = [...items];
  for (let at = left.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [left[at], left[other]] = [left[other]!, left[at]!];
  }
  return left;
};

/**
 * One ready endpoint of a service, as upstream's service proxy chooses it. Anyone who may write EndpointSlices names
 * addresses, so an endpoint counts only when it refers to a pod of the same namespace that has this very address.
 */
export const serviceEndpoint = async (
  service: KubernetesObject,
  port: string,
  { reader, random, isAllowed }: ServiceEndpoints,
): Promise<Endpoint> => {
  const { namespace = '', name = '' } = service.metadata ?? {};
  const portName = portNameOf(service, port);
  const isValid = async (endpoint: Obj): Promise<boolean> => {
    const [address] = strs(endpoint, 'addresses');
    const target = maybeObj(endpoint, 'targetRef');
    if (address === undefined || target === undefined || str(target, 'namespace') !== namespace) return false;
    const pod = await reader.get({ group: '', resource: 'pods' }, namespace, str(target, 'name'));
    if (pod === undefined) return false;
    const isOwn = objs(obj(pod, 'status'), 'podIPs').some((one) => str(one, 'ip') === address);
    return isOwn && (await isAllowed(address, pod));
  };
  const slices = (
    await reader.list({ group: 'discovery.k8s.io', resource: 'endpointslices' }, namespace)
  ).filter((slice) => slice.metadata?.labels?.[SERVICE_NAME_LABEL] === name);
  for (const slice of shuffled(slices, random)) {
    const target = objs(slice, 'ports').find((one) => str(one, 'name') === portName);
    const targetPort = target ? int(target, 'port') : 0;
    if (targetPort === 0) continue;
    for (const endpoint of shuffled(objs(slice, 'endpoints'), random)) {
      if (obj(endpoint, 'conditions')['ready'] === false) continue;
      if (await isValid(endpoint)) return { host: strs(endpoint, 'addresses')[0]!, port: targetPort };
    }
  }
  throw serviceUnavailable(`no endpoints available for service "${name}"`);
};
