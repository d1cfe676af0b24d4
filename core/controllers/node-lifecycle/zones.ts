import { findCondition } from '../../api/meta/index.ts';
import type { Node, Stored } from '../../client/index.ts';

export type ZoneState = 'Normal' | 'FullDisruption' | 'PartialDisruption';

export interface ZonePolicy {
  readonly evictionsPerSecond: number;
  readonly secondaryEvictionsPerSecond: number;
  readonly largeZoneNodesMin: number;
  readonly unhealthyShare: number;
}

/** Fewer silent nodes than this never make a zone unhealthy, whatever their share. */
const NOT_READY_MIN = 2;

/** As upstream's `GetZoneKey`: region and zone, told apart by a letter that no label has. */
export const zoneOf = ({ metadata }: Node): string => {
  const labels = metadata?.labels ?? {};
  const region = labels['topology.kubernetes.io/region'] ?? '';
  const zone = labels['topology.kubernetes.io/zone'] ?? '';
  return region === '' && zone === '' ? '' : `${region}:\u0000:${zone}`;
};

export const stateOfZone = (nodes: readonly Node[], unhealthyShare: number): ZoneState => {
  const ready = nodes.filter(
    ({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True',
  ).length;
  const notReady = nodes.length - ready;
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  if (notReady > NOT_READY_MIN && notReady / nodes.length >= unhealthyShare) return 'PartialDisruption';
  return 'Normal';
};

export const evictionRate = (state: ZoneState, nodesCount: number, policy: ZonePolicy): number => {
  if (state !== 'PartialDisruption') return policy.evictionsPerSecond;
  return nodesCount > policy.largeZoneNodesMin ? policy.secondaryEvictionsPerSecond : 0;
};

/** Nodes of one zone that wait to be tainted, so many a second. A rate of 0 holds all back. */
export class ZoneQueue {
  readonly #waiting = new Set<string>();
  #perSecond: number;
  #nextMs = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(node: string): void {
    this.#waiting.add(node);
  }

  remove(node: string): void {
    this.#waiting.delete(node);
  }

  setRate(perSecond: number): void {
    this.#perSecond = perSecond;
  }

  /** The nodes whose turn it is. */
  due(monotonicMs: number): string[] {
    const [first] = this.#waiting;
    if (first === undefined || this.#perSecond === 0 || monotonicMs < this.#nextMs) return [];
    this.#waiting.delete(first);
    this.#nextMs = monotonicMs + 1000 / this.#perSecond;
    return [first];
  }
}

/** The state of every zone, and whether all of them are out: then the fault is most likely on this side. */
export const zonesOf = (
  nodes: readonly Stored<Node>[],
  unhealthyShare: number,
): {
  readonly zones: ReadonlyMap<string, { state: ZoneState; size: number }>;
  readonly isAllOut: boolean;
} => {
  const grouped = new Map<string, Stored<Node>[]>();
  for (const node of nodes) grouped.set(zoneOf(node), [...(grouped.get(zoneOf(node)) ?? []), node]);
  const zones = new Map(
    [...grouped].map(([zone, members]) => [
      zone,
      { state: stateOfZone(members, unhealthyShare), size: members.length },
    ]),
  );
  const isAllOut = zones.size > 0 && [...zones.values()].every(({ state }) => state === 'FullDisruption');
  return { zones, isAllOut };
};
