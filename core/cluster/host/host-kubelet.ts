import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadOwnKubeconfig } from '../../client/index.ts';
import {
  ComponentRuntime,
  ContentClient,
  createKubeletHost,
  PolicyAgent,
  rangeAddresses,
  SimulatedRuntime,
  type HostedNode,
  type KubeletHost,
  type OpenContent,
  type StartComponent,
} from '../../kubelet/index.ts';
import { KubeletServer } from '../../kubelet/server/kubelet-server.ts';
import {
  CLUSTER_DOMAIN,
  clusterNetworks,
  dnsServiceAddress,
  kubernetesServiceAddress,
  nodePodRange,
} from '../config/addresses.ts';
import { manifestsFolder, networkPolicyKubeconfigFile } from '../data-folder/layout.ts';
import { CONTROL_PLANE_LABEL } from '../config/labels.ts';
import { PORTS } from '../manifests/control-plane.ts';
import { DATA_VARIABLE } from '../manifests/static-pod.ts';
import { followServing, loadServing, servingFilesOf } from './kubelet-serving.ts';
import type { HostStart } from './messages.ts';
import { NodeIdentities } from './node-identities.ts';

/** What a simulated machine has; simulated pods take none of the real one. */
const CAPACITY = { cpu: '8', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' } as const;
const COMPONENT_RUNTIME_VERSION = '1.0.0';
/** Above this, pods of workers open no ports: no one talks to them all, and each costs a socket. */
const NODES_WITH_PORTS_MAX = 200;

export interface HostKubelet {
  readonly host: KubeletHost;
  stop(graceMs: number): Promise<void>;
}

export interface HostKubeletOptions {
  readonly start: HostStart;
  readonly startComponent: StartComponent;
  /** Where simulated containers run what users' content drives. */
  readonly openContent: OpenContent;
  readonly clock: Clock;
  readonly log: Log;
}

const nodesOf = (
  { start, startComponent, clock }: HostKubeletOptions,
  content: ContentClient,
): HostedNode[] => {
  const { host, dataDirectory, network } = start;
  const isControlPlane = host.role === 'control-plane';
  const components = new ComponentRuntime({ clock, startComponent, version: COMPONENT_RUNTIME_VERSION });
  const manifests = manifestsFolder(dataDirectory, host.name);
  if (host.nodes.length === 0)
    return [
      {
        identity: { name: host.name, hostIP: host.address, capacity: CAPACITY, kubeletPort: PORTS.kubelet },
        runtime: components,
        manifests,
      },
    ];
  return host.nodes.map((node, index) => {
    const podCIDR = nodePodRange({ network }, start.firstNodeIndex + index, start.nodeCount);
    return {
      identity: {
        name: node.name,
        hostIP: node.address,
        capacity: CAPACITY,
        podCIDR,
        kubeletPort: PORTS.kubelet,
        // The cloud-controller-manager finds the instance behind the node, and load balancers count it from then on.
        hasExternalCloud: true,
        ...(isControlPlane && { taints: [{ key: CONTROL_PLANE_LABEL, effect: 'NoSchedule' as const }] }),
      },
      runtime: new SimulatedRuntime({
        clock,
        nodeName: node.name,
        addresses: rangeAddresses(podCIDR),
        content,
        networks: clusterNetworks({ network }),
        dns: {
          service: dnsServiceAddress({ network }),
          endpoints: start.dnsServers.map((address) => ({ host: address, port: PORTS.dns })),
        },
        isControlPlane,
        opensPorts: host.nodes.length <= NODES_WITH_PORTS_MAX,
      }),
      ...(index === 0 && { staticRuntime: components, manifests }),
      ...(start.nodeVersions[node.name] !== undefined && {
        kubernetesVersion: start.nodeVersions[node.name],
      }),
    };
  });
};

const environmentOf = ({ network }: HostStart): ReadonlyMap<string, string> =>
  new Map([
    ['KUBERNETES_SERVICE_HOST', kubernetesServiceAddress({ network })],
    ['KUBERNETES_SERVICE_PORT', '443'],
  ]);

/** The kubelet of a host: its static pods immediately, everything that needs the API when the API is there. */
export const startHostKubelet = async (options: HostKubeletOptions): Promise<HostKubelet> => {
  const { start, clock, log, openContent } = options;
  const { host: plan, dataDirectory, kubernetesVersion } = start;
  const policies = new PolicyAgent({
    clock,
    random: systemRandom,
    log,
    connect: async () =>
      connect(await loadOwnKubeconfig(networkPolicyKubeconfigFile(dataDirectory)), {
        clock,
        random: systemRandom,
        log,
        userAgent: `network-policy/${kubernetesVersion}`,
      }),
  });
  const content = new ContentClient({ clock, open: openContent, judge: policies });
  const shared = {
    clock,
    random: systemRandom,
    log,
    registry: new Registry(),
    kubernetesVersion,
    nodes: nodesOf(options, content),
    clusterDns: { servers: [dnsServiceAddress({ network: start.network })], domain: CLUSTER_DOMAIN },
    environment: environmentOf(start),
    staticEnvironment: new Map([[DATA_VARIABLE, dataDirectory]]),
  };
  if (plan.nodes.length === 0) {
    const host = createKubeletHost(shared);
    await host.start();
    return { host, stop: (graceMs) => host.stop(graceMs / 1000) };
  }
  const owned = new DisposableStore();
  const nodeNames = plan.nodes.map(({ name }) => name);
  const identities = owned.add(
    await NodeIdentities.load({ dataDirectory, nodeNames, kubernetesVersion, clock, log }),
  );
  const host = createKubeletHost({
    ...shared,
    api: (nodeName) => identities.api(nodeName),
    events: (nodeName) => identities.events(nodeName),
  });
  await host.start();
  const files = servingFilesOf(dataDirectory, plan.name);
  const byAddress = new Map(plan.nodes.map(({ address, name }) => [address, name]));
  const server = new KubeletServer({
    clock,
    log,
    registry: shared.registry,
    tls: await loadServing(files),
    auth: (nodeName) => identities.auth(nodeName),
    nodeAt: (address) => host.node(byAddress.get(address) ?? ''),
  });
  owned.add(followServing(files, server, { clock, log }));
  for (const { address } of plan.nodes)
    await server.listen({ host: address, port: PORTS.kubelet }).catch((cause: unknown) => {
      throw new ReasonError(
        'CannotListen',
        `the kubelet cannot listen on ${address}:${PORTS.kubelet}: ${messageOf(cause)}`,
        { cause },
      );
    });
  return {
    host,
    async stop(graceMs) {
      await Promise.all([server.close(), host.stop(graceMs / 1000)]);
      content.dispose();
      policies.dispose();
      owned.dispose();
    },
  };
};
