import { isPodReady, POD } from '../../client/index.ts';
import type { Node, Pod, Service, Stored } from '../../client/index.ts';
import type { DiscoveryV1EndpointPort, V1Endpoint, V1ObjectReference } from '../../api/schema/index.ts';
import { endpointHostname, isEndpoint, podAddress, portAtPod, type IpFamily } from './service-pods.ts';

export const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Endpoints that are reached by the same ports: what one slice can hold. */
export interface PortGroup {
  readonly ports: readonly DiscoveryV1EndpointPort[];
  readonly endpoints: V1Endpoint[];
}

export interface DesiredEndpoints {
  /** By the text of their ports. */
  readonly groups: ReadonlyMap<string, PortGroup>;
  /** Pods left out because their node is not known; the service must be looked at again. */
  readonly skipped: readonly string[];
}

export const portsKey = (ports: readonly DiscoveryV1EndpointPort[] | undefined): string =>
  JSON.stringify(
    (ports ?? [])
      .map(({ name = '', port, protocol = 'TCP', appProtocol }) => [name, port, protocol, appProtocol])
      .sort((a, b) => (String(a) < String(b) ? -1 : 1)),
  );

const portsAt = (pod: Pod, { spec }: Service): DiscoveryV1EndpointPort[] =>
  (spec?.ports ?? []).flatMap((port) => {
    const number = portAtPod(pod, port);
    if (number === undefined) return [];
    return [
      {
        name: port.name ?? '',
        port: number,
        protocol: port.protocol ?? 'TCP',
        ...(port.appProtocol !== undefined && { appProtocol: port.appProtocol }),
      },
    ];
  });

export const podReference = ({ metadata }: Stored<Pod>): V1ObjectReference => ({
  kind: POD.kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
});

/** Proxies near an endpoint may keep to it: the service asks for it by `trafficDistribution`. */
const hintsFor = (
  { spec }: Service,
  { conditions, zone, nodeName }: V1Endpoint,
): Pick<V1Endpoint, 'hints'> => {
  const wish = spec?.trafficDistribution;
  if (!conditions?.ready || !zone) return {};
  if (wish === 'PreferClose' || wish === 'PreferSameZone') return { hints: { forZones: [{ name: zone }] } };
  if (wish === 'PreferSameNode' && nodeName)
    return { hints: { forNodes: [{ name: nodeName }], forZones: [{ name: zone }] } };
  return {};
};

const endpointOf = (
  pod: Stored<Pod>,
  service: Stored<Service>,
  address: string,
  node: Node | undefined,
): V1Endpoint => {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = endpointHostname(pod, service);
  const zone = node?.metadata?.labels?.[ZONE_LABEL];
  const endpoint: V1Endpoint = {
    addresses: [address],
    conditions: { ready, serving, terminating },
    targetRef: podReference(pod),
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    ...(zone && { zone }),
    ...(hostname && { hostname }),
  };
  return { ...endpoint, ...hintsFor(service, endpoint) };
};

/** What should stand behind a service in one address family. */
export const desiredEndpoints = (options: {
  readonly service: Stored<Service>;
  readonly pods: readonly Stored<Pod>[];
  readonly family: IpFamily;
  nodeOf(name: string): Node | undefined;
}): DesiredEndpoints => {
  const { service, family } = options;
  const groups = new Map<string, PortGroup>();
  const skipped: string[] = [];
  for (const pod of options.pods) {
    if (!isEndpoint(pod, { includeTerminating: true })) continue;
    const address = podAddress(pod, family);
    if (address === undefined) continue;
    const nodeName = pod.spec?.nodeName;
    const node = nodeName ? options.nodeOf(nodeName) : undefined;
    if (nodeName && !node && service.spec?.publishNotReadyAddresses !== true) {
      const { namespace, name } = service.metadata;
      skipped.push(
        `skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`,
      );
      continue;
    }
    const ports = portsAt(pod, service);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpointOf(pod, service, address, node));
    groups.set(key, group);
  }
  return { groups, skipped };
};
