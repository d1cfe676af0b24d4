import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { rangeAddresses } from '../../kubelet/runtimes/simulated/pod-addresses.ts';
import { SimulatedRuntime } from '../../kubelet/runtimes/simulated/simulated-runtime.ts';
import type { ContentClient } from '../../kubelet/runtimes/simulated/content/content-client.ts';
import type { NodeIdentity } from '../../kubelet/node/node-object.ts';
import type { Runtime } from '../../kubelet/runtimes/runtime.ts';
import { PORTS } from '../manifests/control-plane.ts';
import { networkOf } from './host-network.ts';
import type { HostStart } from './messages.ts';

/** What a simulated machine has; simulated pods take none of the real one. */
export const SIMULATED_CAPACITY = {
  cpu: '8',
  memory: '16Gi',
  'ephemeral-storage': '100Gi',
  pods: '110',
} as const;
/** Above this, pods of workers open no ports: no one talks to them all, and each costs a socket. */
const NODES_WITH_PORTS_MAX = 200;

/** How the nodes of one host run pods. */
export interface NodeRuntimes extends Disposable {
  /** Of every node of the host. */
  readonly machine: Pick<NodeIdentity, 'capacity' | 'machine'>;
  of(nodeName: string, podCIDR: string): Runtime;
}

export const simulatedRuntimes = (
  start: HostStart,
  { clock, content }: { readonly clock: Clock; readonly content: ContentClient },
): NodeRuntimes => {
  const { networks, dnsAddress } = networkOf(start);
  return {
    machine: { capacity: SIMULATED_CAPACITY },
    of: (nodeName, podCIDR) =>
      new SimulatedRuntime({
        clock,
        nodeName,
        addresses: rangeAddresses(podCIDR),
        content,
        networks,
        dns: {
          service: dnsAddress,
          endpoints: start.dnsServers.map((address) => ({ host: address, port: PORTS.dns })),
        },
        isControlPlane: start.host.role === 'control-plane',
        opensPorts: start.host.nodes.length <= NODES_WITH_PORTS_MAX,
      }),
    // The thread of their content ends on its own.
    dispose: () => undefined,
  };
};
