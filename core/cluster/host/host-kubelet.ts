import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadOwnKubeconfig, type OwnedClient } from '../../client/index.ts';
import { ComponentRuntime, type StartComponent } from '../../kubelet/runtimes/component/component-runtime.ts';
import { ContentClient } from '../../kubelet/runtimes/simulated/content/content-client.ts';
import { createKubeletHost, type HostedNode, type KubeletHost } from '../../kubelet/kubelet-host.ts';
import { PolicyAgent } from '../../policy-agent/index.ts';
import type { OpenContent } from '../../kubelet/runtimes/simulated/content/content-channel.ts';
import { KubeletServer } from '../../kubelet/server/kubelet-server.ts';
import { certificatePath } from '../../pki/index.ts';
import { hostFolder, manifestsFolder, networkPolicyKubeconfigFile } from '../data-folder/layout.ts';
import { CONTROL_PLANE_LABEL } from '../config/labels.ts';
import { PORTS } from '../manifests/control-plane.ts';
import { DATA_VARIABLE } from '../manifests/static-pod.ts';
import { networkOf } from './host-network.ts';
import { servingFilesOf, servingFromApi, servingFromFiles, type Serving } from './kubelet-serving.ts';
import type { HostStart } from './messages.ts';
import { keepPodRoutes } from './pod-routes.ts';
import { EVENT_RATE, NodeIdentities } from './node-identities.ts';
import { SIMULATED_CAPACITY, simulatedRuntimes, type NodeRuntimes } from './node-runtimes.ts';

const COMPONENT_RUNTIME_VERSION = '1.0.0';

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

/** How the nodes of this host run the pods of users. */
const openRuntimes = async (
  { start, clock, log }: HostKubeletOptions,
  { content, connect }: { readonly content: ContentClient; readonly connect: () => Promise<OwnedClient> },
): Promise<NodeRuntimes> => {
  if (start.runtime === 'simulated') return simulatedRuntimes(start, { clock, content });
  // Loaded for real containers alone.
  const { openCriRuntimes } = await import('./cri-runtimes.ts');
  return openCriRuntimes(start, { clock, log, connect });
};

const nodesOf = (
  { start, startComponent, clock }: HostKubeletOptions,
  runtimes: NodeRuntimes | undefined,
): HostedNode[] => {
  const { host, dataDirectory } = start;
  const isControlPlane = host.role === 'control-plane';
  const components = new ComponentRuntime({ clock, startComponent, version: COMPONENT_RUNTIME_VERSION });
  const manifests = manifestsFolder(dataDirectory, host.name);
  if (!runtimes)
    return [
      {
        identity: {
          name: host.name,
          hostIP: host.address,
          capacity: SIMULATED_CAPACITY,
          kubeletPort: PORTS.kubelet,
        },
        runtime: components,
        manifests,
      },
    ];
  const network = networkOf(start);
  return host.nodes.map((node, index) => {
    const podCIDR = network.podCIDR(index);
    return {
      identity: {
        name: node.name,
        hostIP: node.address,
        // Real pods of all nodes of a machine are on one bridge, so all these nodes have its range.
        podCIDR,
        kubeletPort: PORTS.kubelet,
        // The cloud-controller-manager finds the instance behind the node, and load balancers count it from then on.
        hasExternalCloud: start.joined === undefined,
        ...(isControlPlane && { taints: [{ key: CONTROL_PLANE_LABEL, effect: 'NoSchedule' as const }] }),
        ...runtimes.machine,
      },
      runtime: runtimes.of(node.name, podCIDR),
      ...(index === 0 && { staticRuntime: components, manifests }),
      ...(start.nodeVersions[node.name] !== undefined && {
        kubernetesVersion: start.nodeVersions[node.name],
      }),
    };
  });
};

const environmentOf = (start: HostStart): ReadonlyMap<string, string> =>
  new Map([
    ['KUBERNETES_SERVICE_HOST', networkOf(start).kubernetesService],
    ['KUBERNETES_SERVICE_PORT', '443'],
  ]);

/** Certificates of a machine that has joined are signed through the API; others are files of the data directory. */
const servingOf = ({ start, clock, log }: HostKubeletOptions, identities: NodeIdentities): Serving => {
  const { host, dataDirectory, joined } = start;
  const [node] = host.nodes;
  if (!joined || !node) return servingFromFiles(servingFilesOf(dataDirectory, host.name), { clock, log });
  return servingFromApi({
    clock,
    log,
    certDir: join(hostFolder(dataDirectory, host.name), 'pki'),
    nodeName: node.name,
    nodeIP: node.address,
    client: identities.api(node.name).client,
    caFile: certificatePath(dataDirectory, 'ca'),
  });
};

/** The kubelet of a host: its static pods immediately, everything that needs the API when the API is there. */
export const startHostKubelet = async (options: HostKubeletOptions): Promise<HostKubelet> => {
  const { start, clock, log, openContent } = options;
  const { host: plan, dataDirectory, kubernetesVersion } = start;
  const shape = { clock, random: systemRandom, log };
  const connectForPolicies = async (): Promise<OwnedClient> =>
    connect(await loadOwnKubeconfig(networkPolicyKubeconfigFile(dataDirectory)), {
      ...shape,
      userAgent: `network-policy/${kubernetesVersion}`,
    });
  const policies = new PolicyAgent({ ...shape, connect: connectForPolicies });
  const content = new ContentClient({ clock, open: openContent, judge: policies });
  const owned = new DisposableStore();
  const { dnsAddress, clusterDomain } = networkOf(start);
  const runtimes =
    plan.nodes.length === 0
      ? undefined
      : owned.add(await openRuntimes(options, { content, connect: connectForPolicies }));
  const shared = {
    clock,
    random: systemRandom,
    log,
    registry: new Registry(),
    kubernetesVersion,
    nodes: nodesOf(options, runtimes),
    clusterDns: { servers: [dnsAddress], domain: clusterDomain },
    environment: environmentOf(start),
    staticEnvironment: new Map([[DATA_VARIABLE, dataDirectory]]),
  };
  if (plan.nodes.length === 0) {
    const host = createKubeletHost(shared);
    await host.start();
    return { host, stop: (graceMs) => host.stop(graceMs / 1000) };
  }
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
  const serving = servingOf(options, identities);
  const byAddress = new Map(plan.nodes.map(({ address, name }) => [address, name]));
  const server = new KubeletServer({
    clock,
    log,
    registry: shared.registry,
    tls: await serving.load(),
    eventRate: EVENT_RATE,
    auth: (nodeName) => identities.auth(nodeName),
    nodeAt: (address) => host.node(byAddress.get(address) ?? ''),
  });
  owned.add(serving.follow(server));
  for (const { address } of plan.nodes)
    await server.listen({ host: address, port: PORTS.kubelet }).catch((cause: unknown) => {
      throw new ReasonError(
        'CannotListen',
        `the kubelet cannot listen on ${address}:${PORTS.kubelet}: ${messageOf(cause)}`,
        { cause },
      );
    });
  const routes = keepPodRoutes(options);
  if (routes) owned.add(routes);
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
