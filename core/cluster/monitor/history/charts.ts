import { SERIES_PER_CHART_MAX, type ChartId } from '../../../contract/index.ts';
import { byOf, readingKey } from '../scrape/reading.ts';
import type { MeasureId } from '../scrape/measures.ts';
import type { Window } from '../scrape/window.ts';

/** One value of one line of a chart at one moment. */
export interface Point {
  readonly chart: ChartId;
  readonly series: string;
  readonly value: number;
}

type Draw =
  | { readonly kind: 'rate' | 'gauge' | 'p99' | 'increase'; readonly measure: MeasureId }
  | { readonly kind: 'ratio'; readonly measure: MeasureId; readonly of: MeasureId };

/** How each chart is made of measures. A chart with two sources has a line of the first where it is there. */
const DRAWN: Readonly<Record<ChartId, readonly Draw[]>> = {
  apiRequests: [{ kind: 'rate', measure: 'apiRequests' }],
  apiLatencyP99: [{ kind: 'p99', measure: 'apiDuration' }],
  apiErrors: [{ kind: 'ratio', measure: 'apiFailures', of: 'apiRequests' }],
  apiInFlight: [{ kind: 'gauge', measure: 'apiInFlight' }],
  apiWatchers: [{ kind: 'gauge', measure: 'apiWatchers' }],
  apiServerCpu: [
    { kind: 'rate', measure: 'containerCpu' },
    { kind: 'rate', measure: 'processCpu' },
  ],
  apiServerMemory: [
    { kind: 'gauge', measure: 'containerMemory' },
    { kind: 'gauge', measure: 'processMemory' },
  ],
  etcdPuts: [{ kind: 'rate', measure: 'etcdPuts' }],
  etcdCommitP99: [{ kind: 'p99', measure: 'etcdCommit' }],
  etcdFsyncP99: [{ kind: 'p99', measure: 'etcdFsync' }],
  etcdPeerRoundTripP99: [{ kind: 'p99', measure: 'etcdRoundTrip' }],
  etcdLeaderChanges: [{ kind: 'increase', measure: 'etcdLeaderChanges' }],
  etcdDbBytes: [{ kind: 'gauge', measure: 'etcdDbBytes' }],
  etcdProposalsPending: [{ kind: 'gauge', measure: 'etcdProposalsPending' }],
  schedulerAttempts: [{ kind: 'rate', measure: 'schedulerAttempts' }],
  schedulerLatencyP99: [{ kind: 'p99', measure: 'schedulerDuration' }],
  schedulerPending: [{ kind: 'gauge', measure: 'schedulerPending' }],
  queueDepth: [{ kind: 'gauge', measure: 'queueDepth' }],
  queueAdds: [{ kind: 'rate', measure: 'queueAdds' }],
  queueTimeP99: [{ kind: 'p99', measure: 'queueTime' }],
  nodePods: [{ kind: 'gauge', measure: 'nodePods' }],
  nodeCpu: [{ kind: 'rate', measure: 'nodeCpu' }],
  nodeMemory: [{ kind: 'gauge', measure: 'nodeMemory' }],
};

/** Queues and scheduling are the leader's alone, so the instance says nothing. */
const LEADERS_OWN = new Set<MeasureId>([
  'queueDepth',
  'queueAdds',
  'queueTime',
  'schedulerAttempts',
  'schedulerPending',
]);

/** How several points of one moment become one: what instances add up to, or the worst of them. */
const joinOf = (chart: ChartId): ((a: number, b: number) => number) =>
  DRAWN[chart][0]!.kind === 'p99' || DRAWN[chart][0]!.kind === 'ratio' ? Math.max : (a, b): number => a + b;

export type Thinning = 'mean' | 'max' | 'sum';

/** How points of several moments become one. The worst latency is what is looked for; changes add up. */
export const thinningOf = (chart: ChartId): Thinning => {
  const { kind } = DRAWN[chart][0]!;
  return kind === 'p99' ? 'max' : kind === 'increase' ? 'sum' : 'mean';
};

export interface Watched {
  readonly instance: string;
  readonly window: Window;
}

/** `last`: since the reading before. Else over a span, exactly: quantiles are of all that was observed within it. */
export type Span = 'last' | { readonly sinceMs: number };

const valueOf = (window: Window, draw: Draw, key: string, span: Span): number | undefined => {
  const sinceMs = span === 'last' ? (window.newest?.atMs ?? 0) - 1 : span.sinceMs;
  switch (draw.kind) {
    case 'gauge':
      return span === 'last' ? window.latest(key) : window.mean(key, sinceMs);
    case 'increase':
      return window.increase(key, sinceMs)?.amount;
    case 'rate': {
      const grown = window.increase(key, sinceMs);
      return grown && grown.seconds > 0 ? grown.amount / grown.seconds : undefined;
    }
    case 'p99':
      return window.quantile(key, 0.99, sinceMs);
    case 'ratio': {
      const all = window.increase(readingKey(draw.of), sinceMs);
      const some = window.increase(key, sinceMs);
      return all && some && all.amount > 0 ? some.amount / all.amount : undefined;
    }
  }
};

/** Members of etcd name each other by id. */
export type PeerName = (id: string) => string;

const nameOf = (instance: string, measure: MeasureId, by: string, peerName: PeerName): string => {
  if (by === '') return instance;
  if (measure === 'etcdRoundTrip') return `${instance} → ${peerName(by)}`;
  return LEADERS_OWN.has(measure) ? by : `${instance} ${by}`;
};

export interface DrawOptions {
  readonly span: Span;
  /** Windows whose target did not answer since then draw nothing. */
  readonly freshMs: number;
  readonly peerName: PeerName;
}

/** The lines of every chart at one moment. */
export const drawPoints = (
  watched: readonly Watched[],
  { span, freshMs, peerName }: DrawOptions,
): readonly Point[] => {
  const points: Point[] = [];
  const fresh = watched.filter(({ window }) => (window.newest?.atMs ?? -Infinity) >= freshMs);
  for (const [chart, draws] of Object.entries(DRAWN) as [ChartId, readonly Draw[]][]) {
    const join = joinOf(chart);
    const lines = new Map<string, number>();
    for (const draw of draws) {
      const ofDraw = new Map<string, number>();
      for (const { instance, window } of fresh) {
        // A ratio has a line as soon as its whole has one, at zero where nothing failed yet.
        const anchor = draw.kind === 'ratio' ? draw.of : draw.measure;
        for (const found of window.keysOf(anchor)) {
          const by = byOf(found);
          const value = valueOf(window, draw, readingKey(draw.measure, by), span);
          if (value === undefined || !Number.isFinite(value)) continue;
          const name = nameOf(instance, draw.measure, by, peerName);
          const before = ofDraw.get(name);
          ofDraw.set(name, before === undefined ? value : join(before, value));
        }
      }
      for (const [name, value] of ofDraw) if (!lines.has(name)) lines.set(name, value);
    }
    for (const [series, value] of [...lines].slice(0, SERIES_PER_CHART_MAX))
      points.push({ chart, series, value });
  }
  return points;
};
