import { scaledValue } from '../../api/quantity/int-or-percent.ts';
import {
  isPodAvailable,
  isPodReady,
  type DaemonSet,
  type Node,
  type Pod,
  type Stored,
} from '../../client/index.ts';
import { fitOf, targetNodeOf } from './node-fit.ts';

export const REVISION_LABEL = 'controller-revision-hash';

/** What is to be made and deleted in one look. */
export interface DaemonPlan {
  readonly nodes: readonly string[];
  readonly pods: readonly Stored<Pod>[];
}

/** One look at a set: its nodes in order of their names, and its pods by the node they are meant for. */
export interface DaemonLook {
  readonly set: Stored<DaemonSet>;
  readonly nodes: readonly Stored<Node>[];
  readonly podsByNode: ReadonlyMap<string, readonly Stored<Pod>[]>;
  readonly hash: string;
  readonly nowMs: number;
}

/** Assigned pods first, then the oldest. */
const byAge = (a: Stored<Pod>, b: Stored<Pod>): number => {
  const assigned = Number(Boolean(b.spec?.nodeName)) - Number(Boolean(a.spec?.nodeName));
  if (assigned !== 0) return assigned;
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};

/** Pods that ended and are on their way out are as good as gone. */
export const groupByNode = (pods: readonly Stored<Pod>[]): Map<string, Stored<Pod>[]> => {
  const groups = new Map<string, Stored<Pod>[]>();
  for (const pod of [...pods].sort(byAge)) {
    const isOver = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
    if (isOver && pod.metadata.deletionTimestamp) continue;
    const node = targetNodeOf(pod);
    if (node === undefined) continue;
    const group = groups.get(node);
    if (group) group.push(pod);
    else groups.set(node, [pod]);
  }
  return groups;
};

const isUpdated = ({ hash }: DaemonLook, pod: Pod): boolean =>
  pod.metadata?.labels?.[REVISION_LABEL] === hash;
const isAvailable = ({ set, nowMs }: DaemonLook, pod: Pod): boolean =>
  isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs);

const rollingUpdateOf = ({ spec }: DaemonSet) =>
  spec?.updateStrategy?.type === 'RollingUpdate' ? (spec.updateStrategy.rollingUpdate ?? {}) : {};

const maxSurgeOf = (set: DaemonSet, total: number): number =>
  scaledValue(rollingUpdateOf(set).maxSurge ?? 0, { total, roundUp: true });

export interface FailureGate {
  /** Whether a pod that failed on that node may be replaced now; tells, and counts, when it may. */
  mayReplace(node: string, pod: Stored<Pod>): boolean;
  tellSucceeded(node: string, pod: Stored<Pod>): void;
}

/** With surge an old and a new pod may stand side by side, until the new one has taken over. */
const surplusWithSurge = (look: DaemonLook, running: readonly Stored<Pod>[]): Stored<Pod>[] => {
  const newest = running.find((pod) => isUpdated(look, pod));
  const oldest = running.find((pod) => !isUpdated(look, pod));
  const surplus = running.filter((pod) => pod !== newest && pod !== oldest);
  const hasTakenOver = newest && oldest && (!isPodReady(oldest) || isAvailable(look, newest));
  return hasTakenOver ? [...surplus, oldest] : surplus;
};

const planForNode = (look: DaemonLook, node: Stored<Node>, gate: FailureGate): DaemonPlan => {
  const { set, podsByNode } = look;
  const { name } = node.metadata;
  const { shouldRun, mayStay } = fitOf(set, node);
  const pods = podsByNode.get(name);
  if (!pods) return { nodes: shouldRun ? [name] : [], pods: [] };
  const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (!mayStay) return { nodes: [], pods: staying };
  const ended = staying.filter((pod) => {
    if (pod.status?.phase === 'Failed') return gate.mayReplace(name, pod);
    if (pod.status?.phase !== 'Succeeded') return false;
    gate.tellSucceeded(name, pod);
    return true;
  });
  const running = staying.filter(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded');
  if (maxSurgeOf(set, 1) === 0) return { nodes: [], pods: [...ended, ...running.slice(1)] };
  const isMissing = running.length === 0 && shouldRun;
  return { nodes: isMissing ? [name] : [], pods: [...ended, ...surplusWithSurge(look, running)] };
};

/** One pod on each node that should have one, and none elsewhere. */
export const planPlacement = (look: DaemonLook, gate: FailureGate): DaemonPlan => {
  const plans = look.nodes.map((node) => planForNode(look, node, gate));
  const known = new Set(look.nodes.map(({ metadata }) => metadata.name));
  // The scheduler never binds these, and no kubelet or collector sees them.
  const stranded = [...look.podsByNode]
    .filter(([node]) => !known.has(node))
    .flatMap(([, pods]) =>
      pods.filter(({ spec, metadata }) => !spec?.nodeName && !metadata.deletionTimestamp),
    );
  return {
    nodes: plans.flatMap(({ nodes }) => nodes),
    pods: [...plans.flatMap(({ pods }) => pods), ...stranded],
  };
};

interface Pair {
  readonly newPod: Stored<Pod> | undefined;
  readonly oldPod: Stored<Pod> | undefined;
}

/** Undefined where more than one of a kind stand: placement deals with that first. */
const pairOf = (look: DaemonLook, pods: readonly Stored<Pod>[]): Pair | undefined => {
  const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const updated = staying.filter((pod) => isUpdated(look, pod));
  const outdated = staying.filter((pod) => !isUpdated(look, pod));
  return updated.length > 1 || outdated.length > 1 ? undefined : { newPod: updated[0], oldPod: outdated[0] };
};

const planByDeletion = (
  look: DaemonLook,
  groups: readonly (readonly Stored<Pod>[])[],
  maxUnavailable: number,
): DaemonPlan => {
  const broken: Stored<Pod>[] = [];
  const candidates: Stored<Pod>[] = [];
  let unavailable = 0;
  for (const pods of groups) {
    const pair = pairOf(look, pods);
    const { newPod, oldPod } = pair ?? {};
    if (!pair || Boolean(newPod) === Boolean(oldPod)) unavailable += 1;
    else if (newPod) unavailable += Number(!isAvailable(look, newPod));
    else if (oldPod && isAvailable(look, oldPod)) candidates.push(oldPod);
    else if (oldPod) {
      broken.push(oldPod);
      unavailable += 1;
    }
  }
  return { nodes: [], pods: [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))] };
};

const planBySurge = (
  look: DaemonLook,
  groups: ReadonlyMap<string, readonly Stored<Pod>[]>,
  counts: { readonly maxSurge: number; readonly desired: number },
): DaemonPlan => {
  const wanted = new Set(
    look.nodes.filter((node) => fitOf(look.set, node).shouldRun).map(({ metadata }) => metadata.name),
  );
  const leaving: Stored<Pod>[] = [];
  const unwanted: Stored<Pod>[] = [];
  const atOnce: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let available = 0;
  for (const [node, pods] of groups) {
    const pair = pairOf(look, pods);
    if (!pair) {
      surging += 1;
      continue;
    }
    const { newPod, oldPod } = pair;
    const serving = oldPod ?? newPod;
    if (serving && isAvailable(look, serving)) available += 1;
    if (!oldPod) continue;
    if (newPod) {
      if (isAvailable(look, newPod)) leaving.push(oldPod);
      else surging += 1;
    } else if (!isAvailable(look, oldPod)) {
      if (wanted.has(node)) atOnce.push(node);
      else leaving.push(oldPod);
    } else if (wanted.has(node)) candidates.push(node);
    else unwanted.push(oldPod);
  }
  return {
    nodes: [...atOnce, ...candidates.slice(0, Math.max(0, counts.maxSurge - surging))],
    pods: [...leaving, ...unwanted.slice(0, Math.max(0, available - counts.desired))],
  };
};

/** The next step from old pods to new ones, within what may be unavailable or too many. */
export const planRollingUpdate = (look: DaemonLook): DaemonPlan => {
  const { set, nodes, podsByNode } = look;
  const wanted = nodes.filter((node) => fitOf(set, node).shouldRun).map(({ metadata }) => metadata.name);
  const groups = new Map(podsByNode);
  for (const name of wanted) if (!groups.has(name)) groups.set(name, []);
  const desired = wanted.length;
  const maxSurge = maxSurgeOf(set, desired);
  if (maxSurge > 0) return planBySurge(look, groups, { maxSurge, desired });
  const { maxUnavailable = 1 } = rollingUpdateOf(set);
  const allowed = scaledValue(maxUnavailable, { total: desired, roundUp: true });
  return planByDeletion(look, [...groups.values()], Math.max(Number(desired > 0), allowed));
};
