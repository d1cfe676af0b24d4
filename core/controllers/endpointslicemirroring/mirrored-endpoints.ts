import { parseIp } from '../../api/validation/ip.ts';
import type { V1Endpoint, V1EndpointAddress } from '../../api/schema/index.ts';
import type { Endpoints, Service, Stored } from '../../client/index.ts';
import { portsKey, type PortGroup } from '../endpointslice/endpoints-of.ts';
import type { IpFamily } from '../endpointslice/service-pods.ts';

const SKIP_LABEL = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader';
/** More addresses of one subset are not mirrored. */
export const SUBSET_ADDRESSES_MAX = 1000;

/** Whether Endpoints were written by somebody for a service that selects no pods: only these need a mirror. */
export const isMirrored = (endpoints: Stored<Endpoints>, service: Service | undefined): boolean =>
  endpoints.metadata.labels?.[SKIP_LABEL] !== 'true' &&
  endpoints.metadata.annotations?.[LEADER_ANNOTATION] === undefined &&
  service !== undefined &&
  !service.spec?.selector;

const mirrored = ({ ip, hostname, nodeName, targetRef }: V1EndpointAddress, ready: boolean): V1Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname && { hostname }),
  ...(nodeName && { nodeName }),
  ...(targetRef && { targetRef }),
});

/** The addresses of one family, grouped by ports. */
export const mirroredGroups = ({ subsets = [] }: Endpoints, family: IpFamily): Map<string, PortGroup> => {
  const wanted = family === 'IPv4' ? 4 : 6;
  const groups = new Map<string, PortGroup>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const slicePorts = ports.map(({ name, port, protocol = 'TCP', appProtocol }) => ({
      name: name ?? '',
      port,
      protocol,
      ...(appProtocol !== undefined && { appProtocol }),
    }));
    const endpoints = [
      ...addresses.map((address) => mirrored(address, true)),
      ...notReadyAddresses.map((address) => mirrored(address, false)),
    ]
      .filter((endpoint) => parseIp(endpoint.addresses[0] ?? '')?.family === wanted)
      .slice(0, SUBSET_ADDRESSES_MAX);
    if (endpoints.length === 0) continue;
    const key = portsKey(slicePorts);
    const group = groups.get(key) ?? { ports: slicePorts, endpoints: [] };
    group.endpoints.push(...endpoints);
    groups.set(key, group);
  }
  return groups;
};
