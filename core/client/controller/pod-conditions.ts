import { findCondition, isConditionTrue } from '../../api/meta/conditions.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { V1PodCondition } from '../../api/schema/index.ts';
import type { Node, Pod } from '../kinds.ts';

export const isPodReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

export const readyConditionOf = (pod: Pod): V1PodCondition | undefined =>
  findCondition(pod.status?.conditions, 'Ready');

/** Ready for at least `minReadySeconds`. */
export const isPodAvailable = (pod: Pod, minReadySeconds: number, nowMs: number): boolean => {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds <= 0) return true;
  const sinceMs = parseTime(readyConditionOf(pod)?.lastTransitionTime ?? '');
  return sinceMs !== undefined && sinceMs + minReadySeconds * 1000 <= nowMs;
};

/** How long until a ready pod is available; 0 when it is, undefined when it is not ready. */
export const untilPodAvailableMs = (pod: Pod, minReadySeconds: number, nowMs: number): number | undefined => {
  if (!isPodReady(pod)) return undefined;
  const sinceMs = parseTime(readyConditionOf(pod)?.lastTransitionTime ?? '') ?? nowMs;
  return Math.max(0, sinceMs + minReadySeconds * 1000 - nowMs);
};

/** Its containers will not run again. */
export const isPodTerminal = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Counts for a controller: not finished, and no one has asked for its deletion. */
export const isPodActive = (pod: Pod): boolean =>
  !isPodTerminal(pod) && pod.metadata?.deletionTimestamp === undefined;

export const isNodeReady = (node: Node): boolean => isConditionTrue(node.status?.conditions, 'Ready');
