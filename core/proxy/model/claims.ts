import {
  componentOnNode,
  inIpv4Range,
  LOOPBACK,
  parseIpv4Range,
  whyNotBind,
  type BindRules,
  type Ipv4Range,
} from '../../base/bind-rules.ts';
import type { Service, Stored } from '../../client/index.ts';
import type { Binding } from './bindings.ts';
import type { NodeTable } from './node-table.ts';

/** What the cluster's configuration lets Services claim. */
export interface ClaimRanges {
  /** For `externalIPs` and published load balancer addresses, beside the addresses of this proxy's worker nodes. */
  readonly external: readonly Ipv4Range[];
  /** Node addresses on which node ports are served; empty: all that are loopback. */
  readonly nodePort: readonly Ipv4Range[];
  /** For cluster IPs, beside loopback. */
  readonly cluster?: readonly Ipv4Range[];
}

export const NO_CLAIMS: ClaimRanges = { external: [], nodePort: [] };

export interface ClaimContext {
  readonly ranges: ClaimRanges;
  readonly nodes: NodeTable;
  readonly nodeNames: readonly string[];
  /** Another service to which this address was allocated, as cluster IP or by a load balancer. */
  holderOf(address: string): string | undefined;
}

export interface RefusedBinding {
  readonly binding: Binding;
  readonly why: string;
}

export interface JudgedBindings {
  readonly allowed: readonly Binding[];
  /** What a user asked for and does not get: reported on the service. */
  readonly refused: readonly RefusedBinding[];
}

/** Addresses that the control plane gave to a service: no other service may claim one. */
export const allocatedAddresses = ({ spec, status }: Stored<Service>): string[] => [
  ...new Set(
    [
      spec?.clusterIP,
      ...(spec?.clusterIPs ?? []),
      ...(status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip),
    ].filter((address): address is string => Boolean(address) && address !== 'None'),
  ),
];

const noComponent = (): undefined => undefined;

/** By their scope: who chose the address decides what it may be. */
const rulesFor = ({ scope }: Binding, { ranges, nodes, nodeNames }: ClaimContext): BindRules => {
  const componentAt: BindRules['componentAt'] = ({ address, port }) =>
    nodes.hasAddress(address) ? componentOnNode(port, nodes.isControlPlane(address)) : undefined;
  switch (scope) {
    case 'cluster':
      // Allocated by the API server from its own range.
      return { ranges: [LOOPBACK, ...(ranges.cluster ?? []), ...ranges.external], componentAt: noComponent };
    case 'node-port':
      return { ranges: ranges.nodePort.length > 0 ? ranges.nodePort : [LOOPBACK], componentAt };
    case 'load-balancer':
      return { ranges: ranges.external, componentAt };
    case 'external': {
      const own = nodeNames
        .flatMap((name) => nodes.addressesOf(name))
        .filter((address) => inIpv4Range(LOOPBACK, address) && !nodes.isControlPlane(address))
        .flatMap((address) => parseIpv4Range(address) ?? []);
      return { ranges: [...ranges.external, ...own], componentAt };
    }
  }
};

const whyRefused = (binding: Binding, context: ClaimContext): string | undefined => {
  const { place, scope } = binding;
  const why = whyNotBind(place, rulesFor(binding, context));
  if (why !== undefined || scope !== 'external') return why;
  if (context.nodes.isControlPlane(place.address))
    return `${place.address} is the address of a control plane`;
  const holder = context.holderOf(place.address);
  return holder === undefined ? undefined : `${place.address} belongs to Service ${holder}`;
};

/** The API server and the kubelets choose these: one that cannot be listened on here is no one's mistake. */
const isChosenByUser = ({ scope, place }: Binding): boolean =>
  scope === 'external' || scope === 'load-balancer' || inIpv4Range(LOOPBACK, place.address);

/** Splits what a service wants into what it gets and what it is refused. */
export const judgeBindings = (wanted: readonly Binding[], context: ClaimContext): JudgedBindings => {
  const allowed: Binding[] = [];
  const refused: RefusedBinding[] = [];
  for (const binding of wanted) {
    const why = whyRefused(binding, context);
    if (why === undefined) allowed.push(binding);
    else if (isChosenByUser(binding)) refused.push({ binding, why });
  }
  return { allowed, refused };
};

const FIELD = {
  cluster: 'clusterIP',
  external: 'externalIPs',
  'load-balancer': 'load balancer address',
  'node-port': 'nodePort',
} as const;

/** For the event on the service. */
export const refusalText = ({ binding: { place, scope }, why }: RefusedBinding): string =>
  `${FIELD[scope]} ${place.address}:${place.port}/${place.protocol} is not served: ${why}`;
