import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Endpoint } from '../model/endpoints.ts';
import { selectEndpoints, type Origin } from '../model/select-endpoints.ts';
import type { ServicePort, TrafficPolicy } from '../model/service-port.ts';
import type { Chain, Collection, Ruleset } from '../../base/nft-ruleset.ts';

/** One port of a service with all that is behind it. */
export interface ServedPort {
  readonly port: ServicePort;
  readonly endpoints: readonly Endpoint[];
}

/** The node whose kernel gets the rules. */
export interface RulesNode {
  /** With `Local`, endpoints of these nodes are used. */
  readonly nodeNames: readonly string[];
  readonly originOf: (node: string) => Origin;
  /** Where node ports are served. */
  readonly nodePortAddresses: readonly string[];
  /** Of pods: traffic from elsewhere is masqueraded. Empty: pods are not told from others. */
  readonly clusterRanges: readonly string[];
}

const MASQUERADE_MARK = '0x4000';
const CHAIN_CHARACTERS_MAX = 110;
/** Before and after the translation of addresses, at -100; `dstnat` is no name in the hook of output. */
const BEFORE_NAT = -110;
const AFTER_NAT = -90;
const NAMES_UNSAFE = /[^A-Za-z0-9/._-]/g;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

const portName = ({ service, name, protocol }: ServicePort): string =>
  `${service}/${protocol.toLowerCase()}/${name}`;

/** Unique by its hash, and readable in `nft list`. */
const chainName = (kind: string, text: string): string =>
  `${kind}-${hashOf(text)}-${text.replace(NAMES_UNSAFE, '_')}`.slice(0, CHAIN_CHARACTERS_MAX);

const endpointChain = (port: ServicePort, { name }: Endpoint): string =>
  chainName('endpoint', `${portName(port)}__${name.replace(':', '/')}`);
/** A set keeps its timeout for as long as it lives: another timeout is another set. */
const affinitySet = (port: ServicePort, endpoint: Endpoint): string =>
  `affinity-${hashOf(`${endpointChain(port, endpoint)} ${port.affinityTimeoutMs ?? 0}`)}`;

/** Local endpoints of all nodes that this kernel stands for; hints of the control plane where it is one. */
const selected = ({ endpoints }: ServedPort, policy: TrafficPolicy, node: RulesNode): readonly Endpoint[] => {
  const [only = ''] = node.nodeNames;
  if (policy === 'Local') {
    const local = endpoints.filter(
      ({ nodeName }) => nodeName !== undefined && node.nodeNames.includes(nodeName),
    );
    return selectEndpoints(local, 'Cluster', { node: undefined, zone: undefined });
  }
  const origin = node.nodeNames.length === 1 ? node.originOf(only) : { node: undefined, zone: undefined };
  return selectEndpoints(endpoints, 'Cluster', origin);
};

const balance = (port: ServicePort, endpoints: readonly Endpoint[]): string[] => {
  const targets = endpoints.map((endpoint) => endpointChain(port, endpoint));
  const held =
    port.affinityTimeoutMs === undefined
      ? []
      : endpoints.map(
          (endpoint) => `ip saddr @${affinitySet(port, endpoint)} goto ${endpointChain(port, endpoint)}`,
        );
  const choice = targets.map((target, index) => `${index} : goto ${target}`).join(', ');
  return [...held, `numgen random mod ${targets.length} vmap { ${choice} }`];
};

interface Building {
  readonly chains: Map<string, Chain>;
  readonly collections: Map<string, Collection>;
  readonly serviceIPs: Map<string, string>;
  readonly noEndpoints: Map<string, string>;
  readonly nodePorts: Map<string, string>;
  readonly noNodePorts: Map<string, string>;
  readonly firewall: Map<string, string>;
  readonly clusterIPs: Map<string, string>;
}

const addEndpoints = (building: Building, port: ServicePort, endpoints: readonly Endpoint[]): void => {
  for (const endpoint of endpoints) {
    const affinity = affinitySet(port, endpoint);
    if (port.affinityTimeoutMs !== undefined)
      building.collections.set(affinity, {
        kind: 'set',
        header: `type ipv4_addr ; flags dynamic,timeout ; timeout ${Math.ceil(port.affinityTimeoutMs / 1000)}s`,
        elements: new Map(),
      });
    building.chains.set(endpointChain(port, endpoint), {
      rules: [
        // A pod that reaches itself through its Service would answer itself without the Service's address.
        `ip saddr ${endpoint.host} jump mark-for-masquerade`,
        ...(port.affinityTimeoutMs === undefined ? [] : [`update @${affinity} { ip saddr }`]),
        `meta l4proto ${port.protocol.toLowerCase()} dnat to ${endpoint.host}:${endpoint.port}`,
      ],
    });
  }
};

/** Traffic from outside: as the policy says; from pods and this node always to all endpoints, as upstream. */
const externalRules = (
  port: ServicePort,
  chains: { readonly cluster: string | undefined; readonly local: string | undefined },
  { clusterRanges }: RulesNode,
): string[] => {
  const { cluster, local } = chains;
  if (port.externalTrafficPolicy === 'Cluster')
    return ['jump mark-for-masquerade', ...(cluster === undefined ? [] : [`goto ${cluster}`])];
  const short = cluster === undefined ? [] : [`goto ${cluster}`];
  return [
    ...(clusterRanges.length > 0
      ? short.map((verdict) => `ip saddr { ${clusterRanges.join(', ')} } ${verdict}`)
      : []),
    ...(cluster === undefined ? [] : ['fib saddr type local jump mark-for-masquerade']),
    ...short.map((verdict) => `fib saddr type local ${verdict}`),
    ...(local === undefined ? [] : [`goto ${local}`]),
  ];
};

const firewallRule = (ranges: readonly string[]): string => {
  const valid = ranges
    .map((range) => range.trim())
    .filter((range) => {
      const [address = '', bits = ''] = range.split('/');
      return isIPv4(address) && /^\d{1,2}$/.test(bits) && Number(bits) <= 32;
    });
  return valid.length === 0 ? 'drop' : `ip saddr != { ${[...new Set(valid)].join(', ')} } drop`;
};

const addPort = (building: Building, served: ServedPort, node: RulesNode): void => {
  const { port } = served;
  const name = portName(port);
  const protocol = port.protocol.toLowerCase();
  const at = (address: string): string => `${address} . ${protocol} . ${port.port}`;
  const cluster = selected(served, 'Cluster', node);
  const local = selected(served, 'Local', node);
  const usesLocal = port.internalTrafficPolicy === 'Local' || port.externalTrafficPolicy === 'Local';
  addEndpoints(building, port, [...new Set([...cluster, ...(usesLocal ? local : [])])]);
  const add = (kind: string, rules: readonly string[]): string => {
    const chain = chainName(kind, name);
    building.chains.set(chain, { rules });
    return chain;
  };
  const { clusterRanges } = node;
  const foreign =
    clusterRanges.length === 0
      ? []
      : port.clusterIPs.map(
          (address) =>
            `ip daddr ${address} ip saddr != { ${clusterRanges.join(', ')} } jump mark-for-masquerade`,
        );
  const clusterChain =
    cluster.length === 0 ? undefined : add('service', [...foreign, ...balance(port, cluster)]);
  const localChain =
    !usesLocal || local.length === 0 ? undefined : add('local', [...foreign, ...balance(port, local)]);
  const isAny = cluster.length + local.length > 0;
  const internal = port.internalTrafficPolicy === 'Local' ? localChain : clusterChain;
  // Without any endpoint a client is told; where others have some, its packets are dropped.
  const none = isAny ? 'drop' : 'goto reject-chain';
  for (const address of port.clusterIPs) {
    building.clusterIPs.set(address, '');
    if (internal === undefined) building.noEndpoints.set(at(address), none);
    else building.serviceIPs.set(at(address), `goto ${internal}`);
  }
  const outside = [...new Set([...port.externalIPs, ...port.loadBalancerIPs])];
  if (outside.length === 0 && port.nodePort === undefined) return;
  const hasExternal = port.externalTrafficPolicy === 'Local' ? isAny : cluster.length > 0;
  const external = hasExternal
    ? add('external', externalRules(port, { cluster: clusterChain, local: localChain }, node))
    : undefined;
  const dropsExternal = port.externalTrafficPolicy === 'Local' && local.length === 0 && isAny;
  for (const address of outside) {
    if (external !== undefined) building.serviceIPs.set(at(address), `goto ${external}`);
    if (external === undefined || dropsExternal) building.noEndpoints.set(at(address), none);
  }
  if (port.loadBalancerSourceRanges.length > 0 && port.loadBalancerIPs.length > 0) {
    const chain = add('firewall', [firewallRule(port.loadBalancerSourceRanges)]);
    for (const address of port.loadBalancerIPs) building.firewall.set(at(address), `goto ${chain}`);
  }
  if (port.nodePort === undefined) return;
  const nodeKey = `${protocol} . ${port.nodePort}`;
  if (external !== undefined) building.nodePorts.set(nodeKey, `goto ${external}`);
  if (external === undefined || dropsExternal) building.noNodePorts.set(nodeKey, none);
};

const SERVICE_KEY = 'ip daddr . meta l4proto . th dport';
const NODE_PORT_KEY = 'ip daddr @nodeport-ips meta l4proto . th dport';

const BASE_CHAINS: readonly (readonly [string, Chain])[] = [
  [
    'filter-prerouting',
    {
      base: `type filter hook prerouting priority ${BEFORE_NAT}`,
      rules: ['ct state new jump firewall-check'],
    },
  ],
  [
    'filter-output',
    {
      base: `type filter hook output priority ${BEFORE_NAT}`,
      rules: ['ct state new jump service-endpoints-check', 'ct state new jump firewall-check'],
    },
  ],
  [
    'filter-input',
    {
      base: 'type filter hook input priority filter',
      rules: ['ct state new jump nodeport-endpoints-check', 'ct state new jump service-endpoints-check'],
    },
  ],
  [
    'filter-forward',
    {
      base: 'type filter hook forward priority filter',
      rules: ['ct state new jump service-endpoints-check', 'ct state new jump cluster-ips-check'],
    },
  ],
  [
    'filter-output-post-dnat',
    { base: `type filter hook output priority ${AFTER_NAT}`, rules: ['ct state new jump cluster-ips-check'] },
  ],
  ['nat-prerouting', { base: 'type nat hook prerouting priority dstnat', rules: ['jump services'] }],
  ['nat-output', { base: 'type nat hook output priority -100', rules: ['jump services'] }],
  ['nat-postrouting', { base: 'type nat hook postrouting priority srcnat', rules: ['jump masquerading'] }],
  ['services', { rules: [`${SERVICE_KEY} vmap @service-ips`, `${NODE_PORT_KEY} vmap @service-nodeports`] }],
  ['firewall-check', { rules: [`${SERVICE_KEY} vmap @firewall-ips`] }],
  ['service-endpoints-check', { rules: [`${SERVICE_KEY} vmap @no-endpoint-services`] }],
  ['nodeport-endpoints-check', { rules: [`${NODE_PORT_KEY} vmap @no-endpoint-nodeports`] }],
  // What is left after the translation is no port of its Service.
  ['cluster-ips-check', { rules: ['ip daddr @cluster-ips reject'] }],
  ['reject-chain', { rules: ['reject'] }],
  ['mark-for-masquerade', { rules: [`mark set mark or ${MASQUERADE_MARK}`] }],
  [
    'masquerading',
    {
      rules: [
        `mark and ${MASQUERADE_MARK} == 0 return`,
        `mark set mark xor ${MASQUERADE_MARK}`,
        'masquerade fully-random',
      ],
    },
  ],
];

/** Everything that kube-proxy asks of the kernel of one node: a pure function of Services and endpoints. */
export const serviceRules = (ports: readonly ServedPort[], node: RulesNode): Ruleset => {
  const building: Building = {
    chains: new Map(BASE_CHAINS),
    collections: new Map(),
    serviceIPs: new Map(),
    noEndpoints: new Map(),
    nodePorts: new Map(),
    noNodePorts: new Map(),
    firewall: new Map(),
    clusterIPs: new Map(),
  };
  for (const port of ports) addPort(building, port, node);
  const byAddress = 'type ipv4_addr . inet_proto . inet_service : verdict';
  const byPort = 'type inet_proto . inet_service : verdict';
  const map = (header: string, elements: Map<string, string>): Collection => ({
    kind: 'map',
    header,
    elements,
  });
  const set = (elements: Map<string, string>): Collection => ({
    kind: 'set',
    header: 'type ipv4_addr',
    elements,
  });
  return {
    chains: building.chains,
    collections: new Map([
      ['service-ips', map(byAddress, building.serviceIPs)],
      ['no-endpoint-services', map(byAddress, building.noEndpoints)],
      ['service-nodeports', map(byPort, building.nodePorts)],
      ['no-endpoint-nodeports', map(byPort, building.noNodePorts)],
      ['firewall-ips', map(byAddress, building.firewall)],
      ['cluster-ips', set(building.clusterIPs)],
      ['nodeport-ips', set(new Map(node.nodePortAddresses.map((address) => [address, ''])))],
      ...building.collections,
    ]),
  };
};
