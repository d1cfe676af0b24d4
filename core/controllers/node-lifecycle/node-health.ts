import type { Clock } from '../../base/clock.ts';
import { findCondition, formatTime, parseTime } from '../../api/meta/index.ts';
import type { Lease, Node, Stored } from '../../client/index.ts';
import type { V1NodeCondition, V1NodeStatus } from '../../api/schema/index.ts';

export interface GracePeriods {
  readonly monitorGraceMs: number;
  /** For a node that has never said anything. */
  readonly startupGraceMs: number;
}

interface Known {
  readonly uid: string;
  /** By our clock: nodes' clocks are not compared with ours. */
  lastSignMs: number;
  heartbeat: string | undefined;
  renewTime: string | undefined;
}

const WATCHED_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** The conditions of a node that has been silent too long; undefined when they say so already. */
const silentConditions = (node: Stored<Node>, now: string): V1NodeCondition[] | undefined => {
  const conditions = [...(node.status?.conditions ?? [])];
  let changed = false;
  for (const type of WATCHED_CONDITIONS) {
    const index = conditions.findIndex((condition) => condition.type === type);
    const held = conditions[index];
    if (!held) {
      changed = true;
      conditions.push({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata.creationTimestamp ?? now,
        lastTransitionTime: now,
      });
    } else if (held.status !== 'Unknown') {
      changed = true;
      conditions[index] = {
        ...held,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: now,
      };
    }
  }
  return changed ? conditions : undefined;
};

/** When each node was last heard of: by its status, or by its lease, which is cheaper to renew. */
export class NodeHealth {
  readonly #known = new Map<string, Known>();
  readonly #grace: GracePeriods;

  constructor(grace: GracePeriods) {
    this.#grace = grace;
  }

  /**
   * Takes note of signs of life. Answers the status to write when there were none for too long, by monotonic time: a
   * machine that slept must not find every node dead.
   */
  observe(node: Stored<Node>, lease: Lease | undefined, clock: Clock): V1NodeStatus | undefined {
    const nowMs = clock.monotonicMs();
    const { name, uid, creationTimestamp } = node.metadata;
    const ready = findCondition(node.status?.conditions, 'Ready');
    const heartbeat = ready?.lastHeartbeatTime;
    let known = this.#known.get(name);
    if (known?.uid !== uid) {
      // A node that never spoke is silent since it was made; of any other we cannot know since when.
      const ageMs = clock.nowMs() - (parseTime(creationTimestamp ?? '') ?? clock.nowMs());
      const lastSignMs = ready ? nowMs : nowMs - Math.max(0, ageMs);
      known = { uid, lastSignMs, heartbeat, renewTime: undefined };
      this.#known.set(name, known);
    }
    if (heartbeat !== known.heartbeat) {
      known.heartbeat = heartbeat;
      known.lastSignMs = nowMs;
    }
    const renewTime = lease?.spec?.renewTime;
    if (renewTime !== undefined && (known.renewTime === undefined || isLater(renewTime, known.renewTime))) {
      known.renewTime = renewTime;
      known.lastSignMs = nowMs;
    }
    const graceMs = ready ? this.#grace.monitorGraceMs : this.#grace.startupGraceMs;
    if (nowMs <= known.lastSignMs + graceMs) return undefined;
    const conditions = silentConditions(node, formatTime(clock.nowMs()));
    return conditions && { ...node.status, conditions };
  }

  /** After an outage that was most likely our own: everybody gets the whole grace period again. */
  pardonAll(clock: Clock): void {
    for (const known of this.#known.values()) known.lastSignMs = clock.monotonicMs();
  }

  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }
}

const isLater = (a: string, b: string): boolean => (parseTime(a) ?? 0) > (parseTime(b) ?? 0);
