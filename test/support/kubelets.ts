import { silentLog } from '../../core/base/log.ts';
import { Registry } from '../../core/base/metrics/index.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { ApiEventRecorder, InformerFactory, NODE, type Client } from '../../core/client/index.ts';
import { createKubeletHost, type HostedNode, type KubeletHost } from '../../core/kubelet/kubelet-host.ts';
import { ContentClient } from '../../core/kubelet/runtimes/simulated/content/content-client.ts';
import { localContent } from '../../core/kubelet/runtimes/simulated/content/content-channel.ts';
import { rangeAddresses } from '../../core/kubelet/runtimes/simulated/pod-addresses.ts';
import { SimulatedRuntime } from '../../core/kubelet/runtimes/simulated/simulated-runtime.ts';
import { until } from './until.ts';

export interface KubeletsOptions {
  /** May write nodes, leases and pods: several nodes share it. */
  readonly client: Client;
  /** Pods have addresses of 127.<octet>.128.0/17, a /24 a node. */
  readonly octet: number;
  readonly nodes: number;
  readonly podsPerNode?: number;
}

export interface Kubelets {
  readonly host: KubeletHost;
  readonly nodeNames: readonly string[];
  stop(): Promise<void>;
}

const CAPACITY = { cpu: '8', memory: '16Gi', 'ephemeral-storage': '100Gi' } as const;
const PODS_PER_NODE = 110;
const FIRST_RANGE = 128;

/** Nodes n1, n2, ... whose pods cost no process, in the process of the test; resolves when all are Ready. */
export const startKubelets = async ({
  client,
  octet,
  nodes,
  podsPerNode = PODS_PER_NODE,
}: KubeletsOptions): Promise<Kubelets> => {
  const [clock, random, log] = [systemClock, systemRandom, silentLog];
  const content = new ContentClient({ clock, open: localContent(clock) });
  const hosted = Array.from({ length: nodes }, (_, index): HostedNode => {
    const name = `n${index + 1}`;
    const podCIDR = `127.${octet}.${FIRST_RANGE + index}.0/24`;
    return {
      identity: {
        name,
        hostIP: `127.${octet}.1.${index + 1}`,
        capacity: { ...CAPACITY, pods: String(podsPerNode) },
        kubeletPort: 10_250,
      },
      runtime: new SimulatedRuntime({
        clock,
        nodeName: name,
        addresses: rangeAddresses(podCIDR),
        content,
        opensPorts: false,
        pullMs: 0,
      }),
    };
  });
  const informers = new InformerFactory({ client, clock, random, log });
  const recorders: ApiEventRecorder[] = [];
  const host = createKubeletHost({
    clock,
    random,
    log,
    registry: new Registry(),
    kubernetesVersion: 'v1.36.0',
    nodes: hosted,
    api: () => ({ client, informers }),
    events: (nodeName) => {
      const recorder = new ApiEventRecorder({
        client,
        clock,
        random,
        log,
        component: 'kubelet',
        host: nodeName,
      });
      recorders.push(recorder);
      return recorder;
    },
  });
  await host.start();
  await until('ready nodes', async () => {
    const { items } = await client.resource(NODE).list();
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return ready.length === nodes;
  });
  return {
    host,
    nodeNames: hosted.map(({ identity }) => identity.name),
    async stop() {
      await host.stop(0);
      await informers.stop();
      await Promise.all(recorders.map((recorder) => recorder.stop('now')));
    },
  };
};
