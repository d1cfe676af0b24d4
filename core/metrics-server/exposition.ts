/** A sample of one container or node: CPU time used since it started, and the memory it uses. */
export interface Point {
  /** 0: not known. */
  readonly startMs: number;
  readonly timestampMs: number;
  readonly cpuCoreSeconds: number;
  readonly memoryBytes: number;
}

export interface NodeSample {
  readonly node: Point | undefined;
  /** By `namespace/name`, then by container. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Point>>;
}

/** Of one node: far more than a kubelet has pods. */
const CONTAINERS_MAX = 20_000;
const SAMPLE = /^([a-z_]+)(?:\{([^}]*)\})? ([0-9.eE+-]+)(?: (\d+))?$/;
const LABEL = /([a-z_]+)="([^"\\]*)"/g;

interface Draft {
  startMs: number;
  timestampMs?: number;
  cpu?: number;
  memory?: number;
}

type Write = (draft: Draft, value: number, timestampMs: number) => void;

const cpu: Write = (draft, value, timestampMs) => {
  draft.cpu = value;
  draft.timestampMs = timestampMs;
};
const memory: Write = (draft, value, timestampMs) => {
  draft.memory = value;
  draft.timestampMs ??= timestampMs;
};

const NODE_SERIES: Readonly<Record<string, Write>> = {
  node_cpu_usage_seconds_total: cpu,
  node_memory_working_set_bytes: memory,
};
const CONTAINER_SERIES: Readonly<Record<string, Write>> = {
  container_cpu_usage_seconds_total: cpu,
  container_memory_working_set_bytes: memory,
  container_start_time_seconds: (draft, value) => (draft.startMs = value * 1000),
};

const pointOf = ({
  startMs,
  timestampMs,
  cpu: cpuCoreSeconds,
  memory: memoryBytes,
}: Draft): Point | undefined =>
  timestampMs === undefined || cpuCoreSeconds === undefined || memoryBytes === undefined
    ? undefined
    : { startMs, timestampMs, cpuCoreSeconds, memoryBytes };

/** Reads a kubelet's `/metrics/resource`. Series without a time were taken `nowMs`; others than these are ignored. */
export const readResourceMetrics = (text: string, nowMs: number): NodeSample => {
  const node: Draft = { startMs: 0 };
  const containers = new Map<string, { pod: string; container: string; draft: Draft }>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = SAMPLE.exec(line);
    if (!match) continue;
    const [, name = '', labels = '', value = '', time] = match;
    const [number, timestampMs] = [Number(value), time === undefined ? nowMs : Number(time)];
    if (!Number.isFinite(number)) continue;
    NODE_SERIES[name]?.(node, number, timestampMs);
    const write = CONTAINER_SERIES[name];
    if (!write) continue;
    const of = new Map([...labels.matchAll(LABEL)].map(([, label, text]) => [label!, text!]));
    const pod = `${of.get('namespace') ?? ''}/${of.get('pod') ?? ''}`;
    const container = of.get('container') ?? '';
    const key = `${pod}/${container}`;
    const known = containers.get(key) ?? { pod, container, draft: { startMs: 0 } };
    if (containers.size >= CONTAINERS_MAX && !containers.has(key)) continue;
    containers.set(key, known);
    write(known.draft, number, timestampMs);
  }
  const pods = new Map<string, Map<string, Point>>();
  for (const { pod, container, draft } of containers.values()) {
    const point = pointOf(draft);
    if (point) pods.set(pod, (pods.get(pod) ?? new Map<string, Point>()).set(container, point));
  }
  return { node: pointOf(node), pods };
};
