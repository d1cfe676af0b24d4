import { isPodReady } from '../../client/index.ts';
import type { Pod, Service, Stored } from '../../client/index.ts';
import type { CoreV1EndpointPort, V1EndpointAddress, V1EndpointSubset } from '../../api/schema/index.ts';
import { podReference } from '../endpointslice/endpoints-of.ts';
import {
  endpointHostname,
  familiesOf,
  isEndpoint,
  isHeadless,
  podAddress,
  portAtPod,
} from '../endpointslice/service-pods.ts';

/** More than this many addresses are left to EndpointSlices. */
export const ADDRESSES_MAX = 1000;

interface Placed {
  readonly address: V1EndpointAddress;
  readonly ready: boolean;
  readonly ports: Map<string, CoreV1EndpointPort>;
}

const addressOf = (pod: Stored<Pod>, service: Stored<Service>, ip: string): V1EndpointAddress => {
  const hostname = endpointHostname(pod, service);
  return {
    ip,
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: podReference(pod),
    ...(hostname && { hostname }),
  };
};

const portText = ({ name = '', port, protocol = 'TCP', appProtocol = '' }: CoreV1EndpointPort): string =>
  [name, String(port).padStart(5, '0'), protocol, appProtocol].join('|');

const byText = <T>(text: (item: T) => string) => {
  return (a: T, b: T): number => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
};

/** Addresses with the same ports make one subset: the one form of what can be written in many. */
const pack = (placed: readonly Placed[]): V1EndpointSubset[] => {
  const subsets = new Map<string, { ports: CoreV1EndpointPort[]; members: Placed[] }>();
  for (const one of placed) {
    const ports = [...one.ports.values()].sort(byText(portText));
    const key = ports.map(portText).join(',');
    const subset = subsets.get(key) ?? { ports, members: [] };
    subset.members.push(one);
    subsets.set(key, subset);
  }
  const addresses = (members: readonly Placed[], ready: boolean): V1EndpointAddress[] =>
    members
      .filter((one) => one.ready === ready)
      .map(({ address }) => address)
      .sort(byText(({ ip, targetRef }) => `${ip}|${targetRef?.uid ?? ''}`));
  return [...subsets].sort(byText(([key]) => key)).map(([, { ports, members }]) => {
    const [ready, notReady] = [addresses(members, true), addresses(members, false)];
    return {
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ...(ports.length > 0 && { ports }),
    };
  });
};

/** The subsets of an Endpoints object, and whether some had to be left out. */
export const subsetsOf = (
  service: Stored<Service>,
  pods: readonly Stored<Pod>[],
): { readonly subsets: V1EndpointSubset[]; readonly isTruncated: boolean } => {
  const [family = 'IPv4'] = familiesOf(service);
  const publishesAll = service.spec?.publishNotReadyAddresses === true;
  const placed: Placed[] = [];
  for (const pod of pods) {
    if (!isEndpoint(pod, { includeTerminating: publishesAll })) continue;
    const ip = podAddress(pod, family);
    if (ip === undefined) continue;
    const ports = new Map<string, CoreV1EndpointPort>();
    for (const port of service.spec?.ports ?? []) {
      const number = portAtPod(pod, port);
      if (number === undefined) continue;
      const { name, protocol = 'TCP', appProtocol } = port;
      const at = { ...(name && { name }), port: number, protocol, ...(appProtocol && { appProtocol }) };
      ports.set(portText(at), at);
    }
    const hasNoPorts = (service.spec?.ports ?? []).length === 0;
    if (ports.size === 0 && !(hasNoPorts && isHeadless(service))) continue;
    const ready = publishesAll || isPodReady(pod);
    placed.push({ address: addressOf(pod, service, ip), ready, ports });
  }
  if (placed.length <= ADDRESSES_MAX) return { subsets: pack(placed), isTruncated: false };
  // Ready ones first: those that can serve are the last to be left out.
  const kept = [...placed.filter(({ ready }) => ready), ...placed.filter(({ ready }) => !ready)];
  return { subsets: pack(kept.slice(0, ADDRESSES_MAX)), isTruncated: true };
};
