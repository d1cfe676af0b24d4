import { parseInt64 } from '../../api/meta/int64.ts';
import type { Deployment, ReplicaSet } from '../../client/index.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** About a hundred revisions. */
const REVISION_HISTORY_CHARACTERS_MAX = 2000;

/** What a deployment and its replica sets each have their own of. */
const NOT_COPIED = new Set([
  LAST_APPLIED,
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
]);

export type Annotations = Readonly<Record<string, string>>;
type Annotated = Pick<Deployment | ReplicaSet, 'metadata'>;

export const annotationsOf = ({ metadata }: Annotated): Annotations => metadata?.annotations ?? {};

/** 0 without one, undefined when it is no number. */
export const revisionOf = (object: Annotated): bigint | undefined => {
  const text = annotationsOf(object)[REVISION];
  return text === undefined ? 0n : parseInt64(text);
};

/** The revision after all of these; it wraps as upstream's int64 does. */
export const nextRevision = (replicaSets: readonly Annotated[]): bigint => {
  let max = 0n;
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet) ?? 0n;
    if (revision > max) max = revision;
  }
  return BigInt.asIntN(64, max + 1n);
};

const countIn = (annotations: Annotations, name: string): number | undefined => {
  const text = annotations[name];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
};

/** The size of the deployment when the replica set was last looked at: another size now is a scaling. */
export const desiredReplicasOf = (object: Annotated): number | undefined =>
  countIn(annotationsOf(object), DESIRED_REPLICAS);
export const maxReplicasOf = (object: Annotated): number | undefined =>
  countIn(annotationsOf(object), MAX_REPLICAS);

export const replicasAnnotations = (desired: number, max: number): Annotations => ({
  [DESIRED_REPLICAS]: String(desired),
  [MAX_REPLICAS]: String(max),
});

export const hasAnnotations = (object: Annotated, wanted: Annotations): boolean =>
  Object.entries(wanted).every(([name, value]) => annotationsOf(object)[name] === value);

/** The revisions that a replica set had before, oldest first; the oldest are forgotten to keep it short. */
const historyWith = (history: string | undefined, revision: string): string | undefined => {
  if (!history) return revision;
  const revisions = [...history.split(','), revision];
  while (revisions.length > 1 && revisions.join(',').length > REVISION_HISTORY_CHARACTERS_MAX)
    revisions.shift();
  return revisions.join(',');
};

/**
 * The annotations that the newest replica set should have: the deployment's, and a revision above all older ones. A
 * revision is never lowered, since older replica sets may have been deleted meanwhile.
 */
export const newReplicaSetAnnotations = (
  deployment: Deployment,
  replicaSet: ReplicaSet,
  revision: bigint,
): Annotations => {
  const held = annotationsOf(replicaSet);
  const next: Record<string, string> = { ...held };
  for (const [name, value] of Object.entries(annotationsOf(deployment)))
    if (!NOT_COPIED.has(name)) next[name] = value;
  const heldRevision = revisionOf(replicaSet);
  if (heldRevision === undefined || heldRevision >= revision) return next;
  next[REVISION] = String(revision);
  const former = held[REVISION];
  if (former !== undefined) {
    const history = historyWith(held[REVISION_HISTORY], former);
    if (history !== undefined) next[REVISION_HISTORY] = history;
  }
  return next;
};

/** The annotations of a deployment that goes back to an older replica set: change-cause and the like come along. */
export const rolledBackAnnotations = (deployment: Deployment, replicaSet: ReplicaSet): Annotations => {
  const own = Object.entries(annotationsOf(deployment)).filter(([name]) => NOT_COPIED.has(name));
  const old = Object.entries(annotationsOf(replicaSet)).filter(([name]) => !NOT_COPIED.has(name));
  return Object.fromEntries([...own, ...old]);
};

/** A revision to go back to, 0 for the last one; set by clients of extensions/v1beta1. */
export const rollbackTarget = (deployment: Deployment): bigint | undefined => {
  const text = annotationsOf(deployment)[ROLLBACK_TO];
  return text === undefined ? undefined : parseInt64(text);
};
