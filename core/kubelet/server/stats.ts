import { formatTime } from '../../api/meta/time.ts';
import { quantityFrom } from '../../api/quantity/index.ts';
import type { KubeletNode } from '../node/kubelet-node.ts';
import type { ContainerUsage, RunningContainer, Runtime } from '../runtimes/runtime.ts';
import { isRunning } from '../containers/container-record.ts';
import type { PodEntry } from '../sync/pod-entry.ts';

interface ContainerSample {
  readonly name: string;
  readonly startedMs: number;
  readonly usage: ContainerUsage;
}

interface PodSample {
  readonly entry: PodEntry;
  readonly containers: readonly ContainerSample[];
  readonly total: ContainerUsage;
}

const sum = (usages: readonly ContainerUsage[]): ContainerUsage => ({
  cpuNanoCores: usages.reduce((total, usage) => total + usage.cpuNanoCores, 0),
  cpuCoreNanoSeconds: usages.reduce((total, usage) => total + usage.cpuCoreNanoSeconds, 0),
  memoryBytes: usages.reduce((total, usage) => total + usage.memoryBytes, 0),
});

/** CPU time of the containers of a node, those that are gone included: the counter of a node never goes back. */
class NodeCpu {
  #goneNanoSeconds = 0;
  #running = new Map<string, number>();

  /** Of all containers so far, given those that run now. */
  total(running: ReadonlyMap<string, number>): number {
    for (const [key, used] of this.#running) if (!running.has(key)) this.#goneNanoSeconds += used;
    this.#running = new Map(running);
    let total = this.#goneNanoSeconds;
    for (const used of running.values()) total += used;
    return total;
  }
}

const cpuOfNodes = new WeakMap<KubeletNode, NodeCpu>();

/** What a node uses: the sum of its pods, with the CPU time of containers that have ended. */
const nodeTotal = (node: KubeletNode, pods: readonly PodSample[]): ContainerUsage => {
  const counter = cpuOfNodes.get(node) ?? new NodeCpu();
  cpuOfNodes.set(node, counter);
  const running = new Map(
    pods.flatMap(({ entry, containers }) =>
      containers.map(({ name, startedMs, usage }): [string, number] => [
        `${entry.pod.metadata?.uid ?? ''}/${name}/${startedMs}`,
        usage.cpuCoreNanoSeconds,
      ]),
    ),
  );
  return { ...sum(pods.map(({ total }) => total)), cpuCoreNanoSeconds: counter.total(running) };
};

/** One request to each runtime of the node, for all containers that run on it. */
const usageOf = async (
  entries: readonly PodEntry[],
): Promise<ReadonlyMap<RunningContainer, ContainerUsage>> => {
  const byRuntime = new Map<Runtime, RunningContainer[]>();
  for (const { worker } of entries) {
    if (!worker) continue;
    const list = byRuntime.get(worker.runtime) ?? [];
    byRuntime.set(worker.runtime, list);
    for (const record of worker.records) if (isRunning(record)) list.push(record.current!.container);
  }
  const parts = await Promise.all([...byRuntime].map(([runtime, list]) => runtime.usage(list)));
  return new Map(parts.flatMap((part) => [...part]));
};

const sample = async (node: KubeletNode): Promise<PodSample[]> => {
  const entries = node.entries();
  const usages = await usageOf(entries);
  return entries.flatMap((entry) => {
    const containers = (entry.worker?.records ?? []).flatMap(({ spec, current }) => {
      const usage = current && usages.get(current.container);
      return usage ? [{ name: spec.name, startedMs: current.startedMs, usage }] : [];
    });
    return containers.length === 0
      ? []
      : [{ entry, containers, total: sum(containers.map(({ usage }) => usage)) }];
  });
};

const cpu = (time: string, usage: ContainerUsage) => ({
  time,
  usageNanoCores: usage.cpuNanoCores,
  usageCoreNanoSeconds: usage.cpuCoreNanoSeconds,
});

const memory = (time: string, usage: ContainerUsage) => ({
  time,
  usageBytes: usage.memoryBytes,
  workingSetBytes: usage.memoryBytes,
  rssBytes: usage.memoryBytes,
  pageFaults: 0,
  majorPageFaults: 0,
});

/** `/stats/summary`: what dashboards and older metrics servers read. */
export const statsSummary = async (node: KubeletNode, startedMs: number, nowMs: number): Promise<unknown> => {
  const time = formatTime(nowMs);
  const pods = await sample(node);
  const total = nodeTotal(node, pods);
  const capacityBytes = quantityFrom(node.identity.capacity['memory']).toNumber();
  return {
    node: {
      nodeName: node.name,
      startTime: formatTime(startedMs),
      cpu: cpu(time, total),
      memory: { ...memory(time, total), availableBytes: Math.max(0, capacityBytes - total.memoryBytes) },
    },
    pods: pods.map(({ entry, containers, total: podTotal }) => ({
      podRef: {
        name: entry.pod.metadata?.name,
        namespace: entry.pod.metadata?.namespace,
        uid: entry.apiPod?.metadata.uid ?? entry.pod.metadata?.uid,
      },
      startTime: entry.wanted()?.startTime ?? formatTime(startedMs),
      containers: containers.map(({ name, startedMs: began, usage }) => ({
        name,
        startTime: formatTime(began),
        cpu: cpu(time, usage),
        memory: memory(time, usage),
      })),
      cpu: cpu(time, podTotal),
      memory: memory(time, podTotal),
    })),
  };
};

interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly lines: string[];
}

/** `/metrics/resource`: what metrics-server reads. Samples carry their time, so this text is written by hand. */
export const resourceMetrics = async (node: KubeletNode, nowMs: number): Promise<string> => {
  const series = (name: string, type: Series['type'], help: string): Series => ({
    name,
    help,
    type,
    lines: [],
  });
  const containerCpu = series(
    'container_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the container in core-seconds',
  );
  const containerMemory = series(
    'container_memory_working_set_bytes',
    'gauge',
    'Current working set of the container in bytes',
  );
  const containerStart = series(
    'container_start_time_seconds',
    'gauge',
    'Start time of the container since unix epoch in seconds',
  );
  const nodeCpu = series(
    'node_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the node in core-seconds',
  );
  const nodeMemory = series(
    'node_memory_working_set_bytes',
    'gauge',
    'Current working set of the node in bytes',
  );
  const podCpu = series(
    'pod_cpu_usage_seconds_total',
    'counter',
    'Cumulative cpu time consumed by the pod in core-seconds',
  );
  const podMemory = series(
    'pod_memory_working_set_bytes',
    'gauge',
    'Current working set of the pod in bytes',
  );
  const pods = await sample(node);
  for (const { entry, containers, total } of pods) {
    const { name = '', namespace = '' } = entry.pod.metadata ?? {};
    for (const { name: container, usage, startedMs } of containers) {
      const labels = `{container="${container}",namespace="${namespace}",pod="${name}"}`;
      containerCpu.lines.push(`${labels} ${usage.cpuCoreNanoSeconds / 1e9} ${nowMs}`);
      containerMemory.lines.push(`${labels} ${usage.memoryBytes} ${nowMs}`);
      containerStart.lines.push(`${labels} ${startedMs / 1000}`);
    }
    const labels = `{namespace="${namespace}",pod="${name}"}`;
    podCpu.lines.push(`${labels} ${total.cpuCoreNanoSeconds / 1e9} ${nowMs}`);
    podMemory.lines.push(`${labels} ${total.memoryBytes} ${nowMs}`);
  }
  const total = nodeTotal(node, pods);
  nodeCpu.lines.push(` ${total.cpuCoreNanoSeconds / 1e9} ${nowMs}`);
  nodeMemory.lines.push(` ${total.memoryBytes} ${nowMs}`);
  const failures = series(
    'resource_scrape_error',
    'gauge',
    '1 if there was an error while getting container metrics, 0 otherwise',
  );
  failures.lines.push(' 0');
  return [containerCpu, containerMemory, containerStart, nodeCpu, nodeMemory, podCpu, podMemory, failures]
    .filter(({ lines }) => lines.length > 0)
    .map(
      ({ name, help, type, lines }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map((line) => `${name}${line}\n`).join('')}`,
    )
    .join('');
};
