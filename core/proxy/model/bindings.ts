import type { Place } from '../forwarding/index.ts';
import type { NodeTable } from './node-table.ts';
import { portKey, type ServicePort } from './service-port.ts';

/** By which of its addresses a service is asked for. */
export type Scope = 'cluster' | 'external' | 'load-balancer' | 'node-port';

/** A place to listen on for a port of a service. */
export interface Binding {
  readonly place: Place;
  readonly port: string;
  readonly scope: Scope;
  /** The node whose address it is, for node ports. */
  readonly node: string | undefined;
}

/** Where a port wants to listen: its own addresses, and its node port on the addresses of the nodes we stand for. */
export const bindingsOf = (
  port: ServicePort,
  nodes: NodeTable,
  nodeNames: readonly string[],
): readonly Binding[] => {
  const { protocol, nodePort } = port;
  const key = portKey(port);
  const at = (addresses: readonly string[], scope: Scope): Binding[] =>
    addresses.map((address) => ({
      place: { protocol, address, port: port.port },
      port: key,
      scope,
      node: undefined,
    }));
  const onNodes =
    nodePort === undefined
      ? []
      : nodeNames.flatMap((node) =>
          nodes.addressesOf(node).map((address): Binding => ({
            place: { protocol, address, port: nodePort },
            port: key,
            scope: 'node-port',
            node,
          })),
        );
  return [
    ...at(port.clusterIPs, 'cluster'),
    ...at(port.externalIPs, 'external'),
    ...at(port.loadBalancerIPs, 'load-balancer'),
    ...onNodes,
  ];
};
