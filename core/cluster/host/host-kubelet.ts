import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemRandom } from '../../base/node/random.ts';
import { ApiEventRecorder, connect, InformerFactory, loadKubeconfig } from '../../client/index.ts';
import {
  ComponentRuntime,
  createKubeletHost,
  ListenerPool,
  rangeAddresses,
  SimulatedRuntime,
  type HostedNode,
  type KubeletHost,
  type StartComponent,
} from '../../kubelet/index.ts';
import { apiAuth } from '../../kubelet/server/auth.ts';
import { KubeletServer } from '../../kubelet/server/kubelet-server.ts';
import { kubernetesServiceAddress, nodePodRange } from '../config/addresses.ts';
import { kubeletKubeconfigFile, manifestsFolder } from '../data-folder/layout.ts';
import { CONTROL_PLANE_LABEL } from '../config/labels.ts';
import { PORTS } from '../manifests/control-plane.ts';
import { DATA_VARIABLE } from '../manifests/static-pod.ts';
import { followServing, loadServing, servingFilesOf } from './kubelet-serving.ts';
import type { HostStart } from './messages.ts';

/** What a simulated machine has; simulated pods take none of the real one. */
const CAPACITY = { cpu: '8', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' } as const;
const COMPONENT_RUNTIME_VERSION = '1.0.0';
/** Above this, pods of workers open no ports: nobody talks to them all, and each costs a socket. */
const NODES_WITH_PORTS_MAX = 200;

/**
 * Upstream's --event-qps and --event-burst, for all kubelets of the process: what thousands of pods have to tell when they
 * start must not keep their statuses waiting.
 */
const EVENT_RATE = { qps: 50, burst: 100 } as const;

export interface HostKubelet {
  readonly host: KubeletHost;
  stop(graceMs: number): Promise<void>;
}

export interface HostKubeletOptions {
  readonly start: HostStart;
  readonly startComponent: StartComponent;
  readonly clock: Clock;
  readonly log: Log;
}

const nodesOf = ({ start, startComponent, clock }: HostKubeletOptions): HostedNode[] => {
  const { host, dataDirectory, network } = start;
  const isControlPlane = host.role === 'control-plane';
  const listeners = new ListenerPool(clock);
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
        listeners,
        opensPorts: host.nodes.length <= NODES_WITH_PORTS_MAX,
      }),
      ...(index === 0 && { staticRuntime: components, manifests }),
      ...(start.nodeVersions[node.name] !== undefined && {
        kubernetesVersion: start.nodeVersions[node.name],
      }),
    };
  });
};

const environmentOf = ({ dataDirectory, network }: HostStart): ReadonlyMap<string, string> =>
  new Map([
    [DATA_VARIABLE, dataDirectory],
    ['KUBERNETES_SERVICE_HOST', kubernetesServiceAddress({ network })],
    ['KUBERNETES_SERVICE_PORT', '443'],
  ]);

/** The kubelet of a host: its static pods at once, everything that needs the API when the API is there. */
export const startHostKubelet = async (options: HostKubeletOptions): Promise<HostKubelet> => {
  const { start, clock, log } = options;
  const { host: plan, dataDirectory, kubernetesVersion } = start;
  const shared = {
    clock,
    random: systemRandom,
    log,
    registry: new Registry(),
    kubernetesVersion,
    nodes: nodesOf(options),
    environment: environmentOf(start),
  };
  if (plan.nodes.length === 0) {
    const host = createKubeletHost(shared);
    await host.start();
    return { host, stop: (graceMs) => host.stop(graceMs / 1000) };
  }
  const owned = new DisposableStore();
  const config = await loadKubeconfig(kubeletKubeconfigFile(dataDirectory, plan.name));
  const shape = { clock, random: systemRandom, log, userAgent: `kubelet/${kubernetesVersion}` };
  const client = owned.add(connect(config, shape));
  const eventClient = owned.add(connect(config, { ...shape, rateLimit: EVENT_RATE }));
  const informers = owned.add(new InformerFactory({ client, clock, random: systemRandom, log }));
  const recorders: ApiEventRecorder[] = [];
  const host = createKubeletHost({
    ...shared,
    api: { client, informers },
    events: (nodeName) => {
      const recorder = new ApiEventRecorder({
        client: eventClient,
        clock,
        random: systemRandom,
        log,
        component: 'kubelet',
        host: nodeName,
      });
      recorders.push(recorder);
      return recorder;
    },
  });
  await host.start();
  informers.start();
  const files = servingFilesOf(dataDirectory, plan.name);
  const byAddress = new Map(plan.nodes.map(({ address, name }) => [address, name]));
  const server = new KubeletServer({
    clock,
    log,
    registry: shared.registry,
    tls: await loadServing(files),
    auth: apiAuth(client, clock),
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
      owned.dispose();
      await Promise.all(recorders.map((recorder) => recorder.stop('now')));
    },
  };
};
