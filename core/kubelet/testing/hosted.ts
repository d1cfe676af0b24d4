import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { InformerFactory } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { createKubeletHost, type HostedNode, type KubeletHost } from '../kubelet-host.ts';
import { rangeAddresses } from '../runtimes/simulated/pod-addresses.ts';
import { ListenerPool } from '../runtimes/simulated/pod-listeners.ts';
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
  } = {},
): Promise<Hosted> => {
  const api = options.api ?? new FakeApi();
  const { clock, random } = api;
  const listeners = new ListenerPool(clock);
  const events: string[] = [];
  const informers = new InformerFactory({
    client: api.client(),
    clock,
    random,
    log: silentLog,
    freeze: true,
  });
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
        listeners,
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
    api: { client: api.client('kubelet'), informers },
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
  informers.start();
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
      informers.dispose();
    },
  };
};
