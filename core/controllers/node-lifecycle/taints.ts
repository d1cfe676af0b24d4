import type { Clock } from '../../base/clock.ts';
import { findCondition, formatTime, isConflict, isNotFound } from '../../api/meta/index.ts';
import { NODE, pause, type Client, type Node, type Stored } from '../../client/index.ts';
import type { V1Taint } from '../../api/schema/index.ts';

export const NOT_READY = 'node.kubernetes.io/not-ready';
export const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** What keeps pods away from a node, by the state of its conditions. */
const TAINT_OF_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
};
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

const CONDITION_TAINTS: ReadonlySet<string> = new Set([
  ...Object.values(TAINT_OF_CONDITION).flatMap((states) => Object.values(states)),
  UNSCHEDULABLE,
]);

/** The keys of NoSchedule taints that the node should have. */
export const wantedNoSchedule = ({ spec, status }: Node): string[] => {
  const keys = (status?.conditions ?? []).flatMap(({ type, status: state }) => {
    const key = TAINT_OF_CONDITION[type]?.[state];
    return key === undefined ? [] : [key];
  });
  return spec?.unschedulable ? [...keys, UNSCHEDULABLE] : keys;
};

/** The key of the NoExecute taint that the node should have; undefined while it is ready. */
export const wantedNoExecute = ({ status }: Node): string | undefined => {
  const state = findCondition(status?.conditions, 'Ready')?.status;
  return state === undefined || state === 'True' ? undefined : TAINT_OF_CONDITION['Ready']?.[state];
};

export const hasTaint = ({ spec }: Node, key: string, effect: string): boolean =>
  (spec?.taints ?? []).some((taint) => taint.key === key && taint.effect === effect);

/** Which taints of one effect a controller wants, and which keys are its to take away. */
export interface TaintGoal {
  readonly effect: 'NoSchedule' | 'NoExecute';
  readonly wanted: readonly string[];
  owns(key: string): boolean;
}

export const noScheduleGoal = (node: Node): TaintGoal => ({
  effect: 'NoSchedule',
  wanted: wantedNoSchedule(node),
  owns: (key) => CONDITION_TAINTS.has(key),
});

export const noExecuteGoal = (key: string | undefined): TaintGoal => ({
  effect: 'NoExecute',
  wanted: key === undefined ? [] : [key],
  owns: (held) => held === NOT_READY || held === UNREACHABLE,
});

/** The taints that fulfil the goal; the same array when they are there already. */
export const taintsAfter = (
  before: readonly V1Taint[] | undefined,
  goal: TaintGoal,
  now: string,
): readonly V1Taint[] => {
  const held = before ?? [];
  const kept = held.filter(
    ({ key, effect }) => effect !== goal.effect || !goal.owns(key) || goal.wanted.includes(key),
  );
  const missing = goal.wanted.filter(
    (key) => !held.some((taint) => taint.key === key && taint.effect === goal.effect),
  );
  if (missing.length === 0 && kept.length === held.length) return held;
  return [...kept, ...missing.map((key) => ({ key, effect: goal.effect, timeAdded: now }))];
};

const TRIES_MAX = 5;
const CONFLICT_PAUSE_MS = 100;

/** Brings the taints of a node to the goal. Others write taints too, so a conflict reads again. */
export const applyTaints = async (
  client: Client,
  clock: Clock,
  node: Stored<Node>,
  goalOf: (node: Node) => TaintGoal,
): Promise<void> => {
  const resource = client.resource(NODE);
  let read: Stored<Node> | undefined = node;
  for (let tries = 1; read?.metadata.uid === node.metadata.uid; tries += 1) {
    const taints = taintsAfter(read.spec?.taints, goalOf(read), formatTime(clock.nowMs()));
    if (taints === read.spec?.taints || (taints.length === 0 && !read.spec?.taints)) return;
    const { name, resourceVersion } = read.metadata;
    try {
      await resource.patch(name, {
        type: 'strategic',
        body: { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } },
      });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || tries >= TRIES_MAX) throw error;
      await pause(clock, CONFLICT_PAUSE_MS);
      read = await resource.find(name);
    }
  }
};
