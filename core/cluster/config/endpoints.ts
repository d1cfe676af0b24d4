import { PORTS } from '../../base/bind-rules.ts';
import { loadBalancerAddress } from './addresses.ts';
import type { ClusterConfig } from './config.ts';
import { planHosts } from './hosts.ts';

export interface AdvertisedEndpoint {
  readonly address: string;
  readonly port: number;
}

/** Where clients of other machines, and those that a cluster tells of itself, reach the API. */
export const advertisedEndpoint = ({ spec }: ClusterConfig): AdvertisedEndpoint => ({
  address: spec.advertiseAddress ?? loadBalancerAddress(spec),
  port: PORTS.apiServer,
});

/** More nodes than this are not looked at one by one before a start. */
const NODES_MAX = 32;

/** Every address that a cluster listens on, the load balancer's first. */
export const endpointsOf = (
  config: ClusterConfig,
): readonly { readonly address: string; readonly port: number }[] => {
  const hosts = planHosts(config);
  return [
    { address: loadBalancerAddress({ network: config.spec.network }), port: PORTS.apiServer },
    ...(config.spec.advertiseAddress === undefined ? [] : [advertisedEndpoint(config)]),
    ...hosts
      .filter(({ role }) => role === 'control-plane')
      .flatMap(({ address }) =>
        [PORTS.apiServer, PORTS.controllerManager, PORTS.scheduler, PORTS.cloudControllerManager].map(
          (port) => ({ address, port }),
        ),
      ),
    ...hosts.flatMap(({ etcd }) =>
      etcd
        ? [PORTS.etcdClient, PORTS.etcdPeer, PORTS.etcdMetrics].map((port) => ({
            address: etcd.address,
            port,
          }))
        : [],
    ),
    ...hosts
      .flatMap(({ nodes }) => nodes)
      .slice(0, NODES_MAX)
      .map(({ address }) => ({ address, port: PORTS.kubelet })),
  ];
};
