import type { NodeSample, Point } from './exposition.ts';

/** What a container or node used between two samples. */
export interface Usage {
  readonly cpuNanoCores: number;
  readonly memoryBytes: number;
  readonly timestampMs: number;
  readonly windowMs: number;
}

export interface PodUsage {
  /** Of the container that was sampled first. */
  readonly timestampMs: number;
  readonly windowMs: number;
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
}

/** A container younger than this has used too little to say how much it uses. */
const FRESH_MS_MIN = 10_000;

interface Pair {
  readonly last: Point;
  readonly previous: Point | undefined;
}

const usageOf = ({ last, previous }: Pair): Usage | undefined => {
  if (!previous || last.cpuCoreSeconds < previous.cpuCoreSeconds) return undefined;
  const windowMs = last.timestampMs - previous.timestampMs;
  if (windowMs <= 0) return undefined;
  return {
    cpuNanoCores: Math.round(((last.cpuCoreSeconds - previous.cpuCoreSeconds) * 1e12) / windowMs),
    memoryBytes: last.memoryBytes,
    timestampMs: last.timestampMs,
    windowMs,
  };
};

/** The next pair: a sample that was seen before changes nothing, and one of a restarted container begins again. */
const advance = (known: Pair | undefined, next: Point): Pair => {
  if (!known) return { last: next, previous: undefined };
  if (next.timestampMs > known.last.timestampMs) return { last: next, previous: known.last };
  return { last: next, previous: known.previous };
};

/** The last two samples of everything that was there when it was last sampled. Pure: samples come from outside. */
export class MetricsStorage {
  readonly #resolutionMs: number;
  #nodes = new Map<string, Pair>();
  #pods = new Map<string, Map<string, Pair>>();

  constructor(resolutionMs: number) {
    this.#resolutionMs = resolutionMs;
  }

  /** Replaces everything: what no node told of is gone. */
  store(samples: ReadonlyMap<string, NodeSample>): void {
    const nodes = new Map<string, Pair>();
    const pods = new Map<string, Map<string, Pair>>();
    for (const [name, sample] of samples) {
      if (sample.node) nodes.set(name, advance(this.#nodes.get(name), sample.node));
      for (const [pod, containers] of sample.pods) {
        const known = this.#pods.get(pod);
        pods.set(
          pod,
          new Map([...containers].map(([one, point]) => [one, this.#container(known?.get(one), point)])),
        );
      }
    }
    this.#nodes = nodes;
    this.#pods = pods;
  }

  node(name: string): Usage | undefined {
    const pair = this.#nodes.get(name);
    return pair && usageOf(pair);
  }

  /** Undefined until every container of the pod has been sampled twice. */
  pod(namespace: string, name: string): PodUsage | undefined {
    const pairs = this.#pods.get(`${namespace}/${name}`);
    if (!pairs) return undefined;
    const containers: { name: string; usage: Usage }[] = [];
    for (const [container, pair] of pairs) {
      const usage = usageOf(pair);
      if (!usage) return undefined;
      containers.push({ name: container, usage });
    }
    const [first, ...rest] = containers;
    if (!first) return undefined;
    const earliest = rest.reduce(
      (found, { usage }) => (usage.timestampMs < found.timestampMs ? usage : found),
      first.usage,
    );
    return { timestampMs: earliest.timestampMs, windowMs: earliest.windowMs, containers };
  }

  #container(known: Pair | undefined, next: Point): Pair {
    const ageMs = next.timestampMs - next.startMs;
    // Started within this window: all its CPU time was used since then.
    if (next.startMs > 0 && ageMs >= FRESH_MS_MIN && ageMs < this.#resolutionMs)
      return { last: next, previous: { ...next, timestampMs: next.startMs, cpuCoreSeconds: 0 } };
    const isSame = known !== undefined && next.startMs < known.last.timestampMs;
    return advance(isSame ? known : undefined, next);
  }
}
