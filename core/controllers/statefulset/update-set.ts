import { scaledValue } from '../../api/quantity/int-or-percent.ts';
import { isPodAvailable, isPodTerminal, slowStart, type Pod, type Stored } from '../../client/index.ts';
import { areOwnersRight, createClaims, fixOwners, hasLeavingClaim, type ClaimControl } from './claims.ts';
import {
  isInRange,
  newPod,
  ordinalOf,
  replicasOf,
  revisionOf,
  startOrdinalOf,
  type StoredSet,
  type SetSpec,
} from './identity.ts';
import { isRunningAndReady, type Revisions } from './set-status.ts';
import { createStatefulPod, deleteStatefulPod, repairStatefulPod } from './stateful-pods.ts';

export interface UpdateOptions extends ClaimControl {
  readonly set: StoredSet;
  readonly pods: readonly Stored<Pod>[];
  readonly revisions: Revisions;
  /** The specs at these revisions. */
  readonly currentSpec: SetSpec;
  readonly updateSpec: SetSpec;
  readonly nowMs: number;
}

/** `continue` with the next pod, or `wait` for this one. */
type Step = 'go on' | 'wait';

const isTerminating = (pod: Pod): boolean => pod.metadata?.deletionTimestamp !== undefined;

const isAvailable = ({ set, nowMs }: UpdateOptions, pod: Pod): boolean =>
  isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs);

/** Below the partition pods stay at, and come back at, the current revision. */
const podForPlace = ({ set, revisions, currentSpec, updateSpec }: UpdateOptions, ordinal: number): Pod => {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  const oldCount = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0);
  const isOld = type === 'RollingUpdate' && ordinal < startOrdinalOf(set) + oldCount;
  return isOld
    ? newPod(set, { ordinal, spec: currentSpec, revision: revisions.current })
    : newPod(set, { ordinal, spec: updateSpec, revision: revisions.update });
};

const processReplica = async (
  options: UpdateOptions,
  pod: Stored<Pod> | undefined,
  place: { readonly ordinal: number; readonly isOrdered: boolean },
): Promise<Step> => {
  const { set } = options;
  const { isOrdered } = place;
  if (!pod) {
    const wanted = podForPlace(options, place.ordinal);
    if (hasLeavingClaim(options, set, wanted)) return 'wait';
    await createStatefulPod(options, set, wanted);
    return isOrdered ? 'wait' : 'go on';
  }
  if (isPodTerminal(pod)) {
    if (!isTerminating(pod)) await deleteStatefulPod(options, set, pod);
    return 'wait';
  }
  if (pod.status?.phase === 'Pending') {
    await createClaims(options, set, pod);
    await fixOwners(options, set, pod);
  }
  if (isOrdered && (isTerminating(pod) || !isRunningAndReady(pod) || !isAvailable(options, pod)))
    return 'wait';
  await repairStatefulPod(options, set, pod);
  return 'go on';
};

const processCondemned = async (
  options: UpdateOptions,
  pod: Stored<Pod>,
  place: { readonly firstUnavailable: Stored<Pod> | undefined; readonly isOrdered: boolean },
): Promise<Step> => {
  const { isOrdered } = place;
  if (isTerminating(pod)) return isOrdered ? 'wait' : 'go on';
  const isHealthy = isRunningAndReady(pod) && isAvailable(options, pod);
  if (isOrdered && !isHealthy && pod !== place.firstUnavailable) return 'wait';
  await deleteStatefulPod(options, options.set, pod);
  return isOrdered ? 'wait' : 'go on';
};

/** One after the other until one is to be waited for; or all, in growing batches. */
const runForAll = async <T>(
  items: readonly T[],
  isOrdered: boolean,
  step: (item: T) => Promise<Step>,
): Promise<Step> => {
  if (isOrdered) {
    for (const item of items) if ((await step(item)) === 'wait') return 'wait';
    return 'go on';
  }
  const { error } = await slowStart(items.length, async (i) => void (await step(items[i]!)));
  if (error !== undefined) throw error;
  return 'go on';
};

const isOutdated = ({ revisions }: UpdateOptions, pod: Pod): boolean => revisionOf(pod) !== revisions.update;

/** From the last to the partition, one at a time: the next when this one is available. */
const updateOneByOne = async (options: UpdateOptions, updatable: readonly Stored<Pod>[]): Promise<number> => {
  for (const pod of updatable) {
    if (isOutdated(options, pod) && !isTerminating(pod)) {
      await deleteStatefulPod(options, options.set, pod);
      return 1;
    }
    if (isTerminating(pod) || !isAvailable(options, pod)) return 0;
  }
  return 0;
};

/** As many at the same time as may be unavailable; pods of a parallel set that are so anyway cost nothing. */
const updateByBudget = async (
  options: UpdateOptions,
  replicas: readonly Stored<Pod>[],
  updatable: readonly Stored<Pod>[],
): Promise<number> => {
  const { set } = options;
  const { maxUnavailable = 1 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  const isUnavailable = (pod: Pod): boolean => isTerminating(pod) || !isAvailable(options, pod);
  const budgetMax = Math.max(1, scaledValue(maxUnavailable, { total: replicasOf(set), roundUp: false }));
  const budget = budgetMax - replicas.filter(isUnavailable).length;
  const outdated = updatable.filter((pod) => isOutdated(options, pod) && !isTerminating(pod));
  const free = set.spec?.podManagementPolicy === 'Parallel' ? outdated.filter(isUnavailable) : [];
  const paid = outdated.filter((pod) => !free.includes(pod)).slice(0, Math.max(0, budget));
  for (const pod of [...free, ...paid]) await deleteStatefulPod(options, set, pod);
  return free.length + paid.length;
};

/** Takes one step towards what the set wants; resolves with how many pods were deleted to be updated. */
export const updateSet = async (options: UpdateOptions): Promise<number> => {
  const { set, pods } = options;
  const isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
  const start = startOrdinalOf(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const ordinals = Array.from({ length: replicasOf(set) }, (_, i) => start + i);
  const present = ordinals.flatMap((ordinal) => byOrdinal.get(ordinal) ?? []);
  const condemned = pods
    .filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, pod))
    .sort((a, b) => ordinalOf(b) - ordinalOf(a));
  const firstUnavailable =
    present.length < ordinals.length
      ? undefined
      : [...present, ...condemned.toReversed()].find(
          (pod) => isTerminating(pod) || !isAvailable(options, pod),
        );

  const replicas = await runForAll(ordinals, isOrdered, (ordinal) =>
    processReplica(options, byOrdinal.get(ordinal), { ordinal, isOrdered }),
  );
  if (replicas === 'wait') return 0;
  for (const pod of condemned) if (!areOwnersRight(options, set, pod)) await fixOwners(options, set, pod);
  const scaling = await runForAll(condemned, isOrdered, (pod) =>
    processCondemned(options, pod, { firstUnavailable, isOrdered }),
  );
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  // A place that was empty a moment ago is not updated yet.
  if (scaling === 'wait' || type === 'OnDelete' || present.length < ordinals.length) return 0;
  const updatable = present.slice(rollingUpdate?.partition ?? 0).toReversed();
  return rollingUpdate?.maxUnavailable === undefined
    ? updateOneByOne(options, updatable)
    : updateByBudget(options, present, updatable);
};
