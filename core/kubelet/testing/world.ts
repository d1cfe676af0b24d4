import { silentLog } from '../../base/log.ts';
import { manualClock, type ManualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { releaseOf } from '../../api/releases/index.ts';
import type { V1Container, V1Pod, V1PodSpec, V1PodStatus } from '../../api/schema/index.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import { localContent } from '../runtimes/simulated/content/content-channel.ts';
import { ContentClient } from '../runtimes/simulated/content/content-client.ts';
import { rangeAddresses } from '../runtimes/simulated/pod-addresses.ts';
import { SimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import { kubeletMetrics } from '../sync/kubelet-metrics.ts';
import type { NodeContext } from '../sync/node-context.ts';
import { PodWorker } from '../sync/pod-worker.ts';
import type { ObjectSource } from '../volumes/object-source.ts';

/** Until everything that can move without the clock has moved. */
export const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
};

export const container = (name: string, rest: Partial<V1Container> = {}): V1Container => ({
  name,
  image: `registry.test/${name}:v1`,
  imagePullPolicy: 'IfNotPresent',
  ...rest,
});

export const pod = (spec: Partial<V1PodSpec>, metadata: NonNullable<V1Pod['metadata']> = {}): V1Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1', generation: 1, ...metadata },
  spec: { containers: [container('app')], restartPolicy: 'Always', nodeName: 'n1', ...spec },
});

export const noObjects: ObjectSource = {
  configMap: () => Promise.resolve(undefined),
  secret: () => Promise.resolve(undefined),
  services: () => Promise.resolve([]),
  token: () => Promise.resolve('token'),
};

export interface World {
  readonly clock: ManualClock;
  readonly context: NodeContext;
  readonly events: string[];
  /** Every status that was published, oldest first. */
  readonly statuses: V1PodStatus[];
  readonly terminated: string[];
  run(pod: V1Pod, isStatic?: boolean): PodWorker;
  advance(durationMs: number): Promise<void>;
}

/** One node with the simulated runtime on a manual clock, and pod workers without an API. */
export const world = (
  options: {
    readonly objects?: ObjectSource;
    readonly opensPorts?: boolean;
    /** Files that open ports run side by side: each has a range of its own. */
    readonly podRange?: string;
    /** Another runtime on top of the simulated one. */
    readonly wrap?: (runtime: Runtime, clock: ManualClock) => Runtime;
  } = {},
): World => {
  const clock = manualClock();
  const events: string[] = [];
  const statuses: V1PodStatus[] = [];
  const terminated: string[] = [];
  const simulated = new SimulatedRuntime({
    clock,
    nodeName: 'n1',
    addresses: rangeAddresses(options.podRange ?? '127.77.1.0/24'),
    content: new ContentClient({ clock, open: localContent(clock) }),
    opensPorts: options.opensPorts ?? false,
    pullMs: 0,
  });
  const context: NodeContext = {
    nodeName: 'n1',
    hostIP: '127.77.0.1',
    clusterDns: { servers: ['127.77.64.10'], domain: 'cluster.local' },
    clock,
    log: silentLog,
    runtime: options.wrap?.(simulated, clock) ?? simulated,
    objects: options.objects ?? noObjects,
    allocatable: { cpu: '4', memory: '8Gi' },
    environment: new Map(),
    metrics: kubeletMetrics(new Registry()),
    probeUserAgent: 'kube-probe/1.36',
    release: releaseOf(36),
    event: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`),
  };
  return {
    clock,
    context,
    events,
    statuses,
    terminated,
    run: (subject, isStatic = false) =>
      new PodWorker({
        context,
        pod: subject,
        isStatic,
        onStatus: (worker) => statuses.push(worker.status!),
        onTerminated: (worker) => terminated.push(worker.uid),
      }),
    async advance(durationMs) {
      await settle();
      clock.advance(durationMs);
      // What has become due may set timers of no delay: those belong to the same moment.
      for (let turns = 0; turns < 3; turns += 1) {
        await settle();
        clock.advance(0);
      }
      await settle();
    },
  };
};

/** What the newest start of a container has logged so far. */
export const logOfRecord = async (record: ContainerRecord | undefined): Promise<string[]> => {
  const texts: string[] = [];
  const reading = { follow: false, signal: new AbortController().signal };
  for await (const lines of record?.current?.container.log.read(reading) ?? [])
    texts.push(...lines.map(({ text }) => text));
  return texts;
};

/** `Ready=True` and so on, in order. */
export const conditionsOf = (status: V1PodStatus | undefined): string[] =>
  (status?.conditions ?? []).map(({ type, status: value }) => `${type}=${value}`);
