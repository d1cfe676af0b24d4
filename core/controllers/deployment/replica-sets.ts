import { compareInt64 } from '../../api/meta/int64.ts';
import type { V1PodTemplateSpec } from '../../api/schema/index.ts';
import type { Deployment, ReplicaSet, Stored } from '../../client/index.ts';
import { sameTemplate } from '../workloads/pod-template.ts';
import { desiredReplicasOf, revisionOf } from './annotations.ts';
import { replicasOf } from './strategy.ts';

export const TEMPLATE_HASH_LABEL = 'pod-template-hash';

type Set = Stored<ReplicaSet>;

/** Oldest first; names decide among those of one second. */
export const byAge = (a: Set, b: Set): number => {
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};

export const byRevision = (a: Set, b: Set): number =>
  compareInt64(revisionOf(a) ?? 0n, revisionOf(b) ?? 0n) || byAge(a, b);

/** The largest first; of equal ones the newest when replicas are added, the oldest when they are taken. */
export const bySize =
  (isGrowing: boolean) =>
  (a: Set, b: Set): number =>
    replicasOf(b) - replicasOf(a) || (isGrowing ? byAge(b, a) : byAge(a, b));

export const isActive = (replicaSet: Set): boolean => replicasOf(replicaSet) > 0;

export const hasTemplate = (replicaSet: Set, template: V1PodTemplateSpec | undefined): boolean =>
  sameTemplate(replicaSet.spec?.template, template, TEMPLATE_HASH_LABEL);

/** The replica set of the present template, the oldest where several are, and all others. */
export const splitByTemplate = (
  deployment: Deployment,
  replicaSets: readonly Set[],
): { readonly newest: Set | undefined; readonly old: Set[] } => {
  const sorted = [...replicaSets].sort(byAge);
  const newest = sorted.find((replicaSet) => hasTemplate(replicaSet, deployment.spec?.template));
  return { newest, old: sorted.filter((replicaSet) => replicaSet !== newest) };
};

const sum = (replicaSets: readonly Set[], count: (replicaSet: Set) => number | undefined): number =>
  replicaSets.reduce((total, replicaSet) => total + (count(replicaSet) ?? 0), 0);

export const totalReplicas = (sets: readonly Set[]): number => sum(sets, replicasOf);
export const actualReplicas = (sets: readonly Set[]): number => sum(sets, ({ status }) => status?.replicas);
export const readyReplicas = (sets: readonly Set[]): number =>
  sum(sets, ({ status }) => status?.readyReplicas);
export const availableReplicas = (sets: readonly Set[]): number =>
  sum(sets, ({ status }) => status?.availableReplicas);

/** Undefined while one that is looked after does not tell. */
export const terminatingReplicas = (sets: readonly Set[]): number | undefined =>
  sets.some(({ status }) => status?.observedGeneration && status.terminatingReplicas === undefined)
    ? undefined
    : sum(sets, ({ status }) => status?.terminatingReplicas);

/** It has all replicas of the deployment, knows it, and all are available. */
export const isSaturated = (deployment: Deployment, replicaSet: Set | undefined): boolean =>
  replicaSet !== undefined &&
  [replicasOf(replicaSet), desiredReplicasOf(replicaSet), replicaSet.status?.availableReplicas ?? 0].every(
    (count) => count === replicasOf(deployment),
  );
