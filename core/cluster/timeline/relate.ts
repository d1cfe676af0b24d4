import type { TimelineEntry, TimelineKind } from '../../contract/index.ts';
import type { StoredEntry } from './entry-lines.ts';

const SECOND_MS = 1_000;
/** An effect may be seen before its cause: a probe notices a dead member before the supervisor hears of the exit. */
const SLACK_MS = 1_500;
/** Candidates of a kind that are kept: what is further back leads to nothing new. */
const CANDIDATES_MAX = 64;
const LASTING_MAX = 16;

interface Rule {
  readonly from: readonly TimelineKind[];
  /** From the end of the cause, or from now while it lasts. */
  readonly withinMs: number;
  /** Both concern the same thing; otherwise time alone relates them. */
  readonly isShared: boolean;
}

const shared = (from: readonly TimelineKind[], seconds: number): Rule => ({
  from,
  withinMs: seconds * SECOND_MS,
  isShared: true,
});
const anywhere = (from: readonly TimelineKind[], seconds: number): Rule => ({
  from,
  withinMs: seconds * SECOND_MS,
  isShared: false,
});

const ORDERS: readonly TimelineKind[] = ['action', 'upgrade', 'fault'];
const DOWN: readonly TimelineKind[] = [
  'componentExited',
  'hostExited',
  'hostKilled',
  'hostStopped',
  'hostPaused',
];

/** By effect: the first rule that finds a cause wins, so direct causes stand before remote ones. */
const RULES: Readonly<Partial<Record<TimelineKind, readonly Rule[]>>> = {
  snapshot: [shared(['action'], 5)],
  hostStarted: [shared(ORDERS, 120), shared(['hostExited'], 120)],
  hostStopped: [shared(ORDERS, 120)],
  hostKilled: [shared(ORDERS, 120)],
  hostExited: [shared(ORDERS, 60)],
  hostPaused: [shared(ORDERS, 60)],
  componentExited: [shared(['hostExited', 'hostKilled', 'hostStopped'], 30), shared(ORDERS, 120)],
  componentReady: [shared(['hostStarted', 'componentExited'], 180), shared(ORDERS, 120)],
  memberDown: [shared(DOWN, 60), shared(ORDERS, 60)],
  memberUp: [shared(['hostStarted'], 180), shared(['componentReady'], 60), shared(ORDERS, 60)],
  memberAdded: [anywhere(['action'], 300)],
  memberRemoved: [anywhere(['action'], 300)],
  noLeader: [shared(['memberDown', ...DOWN], 30), shared(ORDERS, 60), anywhere(['fault', 'memberDown'], 30)],
  leaderElected: [anywhere(['noLeader'], 120), anywhere(['action', 'clusterRun'], 30)],
  etcdAlarm: [anywhere(['fault', 'action'], 300)],
  leaseMoved: [
    shared(DOWN, 90),
    shared(ORDERS, 90),
    anywhere(['noLeader'], 60),
    anywhere(['memberDown', 'upgrade', 'fault'], 60),
  ],
  nodeNotReady: [shared(DOWN, 180), shared(ORDERS, 180), anywhere(['noLeader', 'fault'], 120)],
  nodeCondition: [shared(DOWN, 180), shared(ORDERS, 180)],
  nodeCordoned: [shared(['action', 'upgrade'], 120)],
  nodeAdded: [anywhere(['action'], 120)],
  nodeRemoved: [anywhere(['action'], 300)],
  rollout: [shared(['action'], 60)],
  event: [
    shared(['rollout'], 300),
    shared(['nodeNotReady', 'nodeCondition', 'nodeCordoned'], 360),
    shared(DOWN, 180),
    shared(['leaseMoved'], 5),
    shared(ORDERS, 60),
  ],
  apiErrors: [
    shared([...DOWN, 'fault'], 120),
    anywhere(['noLeader', 'memberDown', 'hostKilled', 'hostExited', 'componentExited'], 120),
    anywhere(ORDERS, 120),
  ],
  alert: [
    // Of the instance that the alert is about, before what happened last anywhere.
    shared(['fault', ...DOWN, 'memberDown', 'etcdAlarm', 'nodeNotReady', 'rollout'], 180),
    anywhere(['noLeader', 'memberDown', 'nodeNotReady', 'hostKilled', 'hostExited'], 180),
    anywhere(['fault', 'rollout', 'componentExited', 'upgrade', 'action'], 180),
  ],
};

const CAUSES: ReadonlySet<TimelineKind> = new Set(
  Object.values(RULES).flatMap((rules) => rules.flatMap(({ from }) => from)),
);

const endOf = ({ endMs, isOpen, atMs }: StoredEntry): number => (isOpen ? Infinity : (endMs ?? atMs));

/** Of a candidate of the right kind. */
const isWithin = (cause: StoredEntry, effect: StoredEntry, rule: Rule): boolean =>
  cause.id !== effect.id &&
  cause.atMs <= effect.atMs + SLACK_MS &&
  effect.atMs - endOf(cause) <= rule.withinMs &&
  (!rule.isShared || cause.about.some((name) => effect.about.includes(name)));

const newerOf = (one: StoredEntry | undefined, other: StoredEntry): StoredEntry =>
  !one || other.atMs > one.atMs || (other.atMs === one.atMs && other.id > one.id) ? other : one;

/** Finds the cause of each entry, given in the order of time. */
export class Relater {
  readonly #candidates = new Map<TimelineKind, StoredEntry[]>();

  /** For one that is recorded now: relates it, and keeps it as a cause of what comes. */
  add(entry: StoredEntry): TimelineEntry {
    this.prepare(entry);
    return this.relate(entry);
  }

  relate(entry: StoredEntry): TimelineEntry {
    return { ...entry, cause: this.#causeOf(entry) };
  }

  /** Keeps it as a possible cause. One that comes again, with its end, replaces what was known of it. */
  prepare(entry: StoredEntry): void {
    if (CAUSES.has(entry.kind)) this.#keep(entry);
  }

  #causeOf(effect: StoredEntry): number | null {
    for (const rule of RULES[effect.kind] ?? []) {
      let before: StoredEntry | undefined;
      // One that was seen a moment later is a cause only where nothing before can be.
      let late: StoredEntry | undefined;
      for (const kind of rule.from) {
        const candidates = this.#candidates.get(kind) ?? [];
        for (let place = candidates.length - 1; place >= 0; place -= 1) {
          const candidate = candidates[place]!;
          if (!isWithin(candidate, effect, rule)) continue;
          if (candidate.atMs > effect.atMs) late = newerOf(late, candidate);
          else {
            before = newerOf(before, candidate);
            break;
          }
        }
      }
      const found = before ?? late;
      if (found) return found.id;
    }
    return null;
  }

  #keep(entry: StoredEntry): void {
    const candidates = this.#candidates.get(entry.kind) ?? [];
    this.#candidates.set(entry.kind, candidates);
    const known = candidates.findIndex(({ id }) => id === entry.id);
    if (known !== -1) {
      candidates[known] = entry;
      return;
    }
    candidates.push(entry);
    if (candidates.length <= CANDIDATES_MAX * 2) return;
    // What lasts may still lead to something, however long ago it began.
    const lasting = candidates.slice(0, -CANDIDATES_MAX).filter(({ isOpen }) => isOpen);
    this.#candidates.set(entry.kind, [...lasting.slice(-LASTING_MAX), ...candidates.slice(-CANDIDATES_MAX)]);
  }
}

/** A complete log: the cause of an entry may have been recorded a moment after it. */
export const relateAll = (entries: readonly StoredEntry[]): TimelineEntry[] => {
  const relater = new Relater();
  const inTime = entries.toSorted((a, b) => a.atMs - b.atMs || a.id - b.id);
  const related: TimelineEntry[] = [];
  // One step behind, so that what was seen within the slack after an effect is known when its cause is looked for.
  let next = 0;
  for (const entry of inTime) {
    while (next < inTime.length && inTime[next]!.atMs <= entry.atMs + SLACK_MS)
      relater.prepare(inTime[next++]!);
    related.push(relater.relate(entry));
  }
  return related;
};
