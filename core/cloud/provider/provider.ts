import type { V1LoadBalancerStatus, V1NodeAddress } from '../../api/schema/index.ts';
import type { Node, Service, Stored } from '../../client/index.ts';

/** What a cloud knows of the machine behind a node; zones are part of it, as in upstream's InstancesV2. */
export interface InstanceMetadata {
  /** `loopback:///zone-a/worker-1` */
  readonly providerID: string;
  readonly instanceType: string;
  /** In the order in which the node should have them. */
  readonly nodeAddresses: readonly V1NodeAddress[];
  readonly zone: string;
  readonly region: string;
  readonly additionalLabels: Readonly<Record<string, string>>;
}

/** All reject when the cloud cannot say: no one may take that for "it is gone". */
export interface Instances {
  exists(node: Stored<Node>): Promise<boolean>;
  isShutDown(node: Stored<Node>): Promise<boolean>;
  metadataOf(node: Stored<Node>): Promise<InstanceMetadata>;
}

export interface LoadBalancers {
  /** Undefined: there is none. */
  statusOf(clusterName: string, service: Stored<Service>): Promise<V1LoadBalancerStatus | undefined>;
  /** Makes it, or brings it in line; doing it twice is doing it once. */
  ensure(
    clusterName: string,
    service: Stored<Service>,
    nodes: readonly Stored<Node>[],
  ): Promise<V1LoadBalancerStatus>;
  /** Other nodes than before; only for one that is there. */
  update(clusterName: string, service: Stored<Service>, nodes: readonly Stored<Node>[]): Promise<void>;
  ensureDeleted(clusterName: string, service: Stored<Service>): Promise<void>;
  /** Lets go of everything that this process holds for them, as when another takes over; they stay. */
  release(): Promise<void>;
}

export interface Route {
  readonly name: string;
  readonly targetNode: string;
  readonly destinationCidr: string;
}

export interface Routes {
  list(clusterName: string): Promise<readonly Route[]>;
  create(clusterName: string, route: Route): Promise<void>;
  delete(clusterName: string, route: Route): Promise<void>;
}

/** A cloud, as upstream's cloudprovider.Interface; what it does not have is undefined. */
export interface CloudProvider {
  readonly name: string;
  readonly instances?: Instances;
  readonly loadBalancers?: LoadBalancers;
  readonly routes?: Routes;
}
