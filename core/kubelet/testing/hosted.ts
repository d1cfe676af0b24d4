import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { InformerFactory } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { createKubeletHost, type HostedNode, type KubeletHost, type NodeApi } from '../kubelet-host.ts';
import { rangeAddresses } from '../runtimes/simulated/pod-addresses.ts';
import { localContent } from '../runtimes/simulated/content/content-channel.ts';
import { ContentClient } from '../runtimes/simulated/content/content-client.ts';
import { SimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts';

export interface Hosted {
  readonly api: FakeApi;
  readonly host: KubeletHost;
  readonly events: string[];
  advance(durationMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Kubelets with the simulated runtime on a fake API and a manual clock. */
export const hosted = async (
  options: {
    readonly nodes?: number;
    readonly change?: (node: HostedNode, index: number) => HostedNode;
    readonly api?: FakeApi;
    readonly staticEnvironment?: ReadonlyMap<string, string>;
  } = {},
): Promise<Hosted> => {
  const api = options.api ?? new FakeApi();
  const { clock, random } = api;
  const content = new ContentClient({ clock, open: localContent(clock) });
  const events: string[] = [];
  const informers: InformerFactory[] = [];
  /** The name of the node as user agent stands for its certificate: a request tells whose it is. */
  const apiOf = (nodeName: string): NodeApi => {
    const client = api.client(nodeName);
    const own = new InformerFactory({ client, clock, random, log: silentLog, freeze: true });
    informers.push(own);
    return { client, informers: own };
  };
  const nodes = Array.from({ length: options.nodes ?? 1 }, (_, index): HostedNode => {
    const name = `n${index + 1}`;
    const addresses = rangeAddresses(`127.78.${index % 256}.0/24`);
    const node: HostedNode = {
      identity: {
        name,
        hostIP: `127.79.${index >> 8}.${index & 255}`,
        capacity: { cpu: '4', memory: '8Gi', pods: '110' },
        kubeletPort: 10250,
      },
      runtime: new SimulatedRuntime({
        clock,
        nodeName: name,
        addresses,
        content,
        opensPorts: false,
        pullMs: 0,
      }),
    };
    return options.change?.(node, index) ?? node;
  });
  const host = createKubeletHost({
    clock,
    random,
    log: silentLog,
    registry: new Registry(),
    kubernetesVersion: 'v1.36.0',
    nodes,
    ...(options.staticEnvironment && { staticEnvironment: options.staticEnvironment }),
    api: apiOf,
    events: (nodeName) => ({
      event: (object, type, reason, message) =>
        void events.push(`${nodeName} ${object.metadata?.name ?? ''} ${type} ${reason} ${message}`),
    }),
  });
  const advance = async (durationMs: number): Promise<void> => {
    await api.settle();
    clock.advance(durationMs);
    for (let turns = 0; turns < 4; turns += 1) {
      await api.settle();
      // Batches of status writes are due within this.
      clock.advance(25);
    }
    await api.settle();
  };
  await host.start();
  await advance(0);
  return {
    api,
    host,
    events,
    advance,
    async stop() {
      const stopping = host.stop(0);
      for (let turns = 0; turns < 5; turns += 1) {
        await api.settle();
        clock.advance(5_000);
      }
      await stopping;
      for (const own of informers) own.dispose();
    },
  };
};
