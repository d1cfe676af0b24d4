import type { Clock } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { seededRandom } from '../../base/random.ts';
import { Algorithm, type Decision } from '../algorithm/algorithm.ts';
import { SchedulerCache } from '../cache/cache.ts';
import { Snapshot } from '../cache/snapshot.ts';
import type { Extender } from '../framework/extender.ts';
import { CycleState } from '../framework/cycle-state.ts';
import type { Framework } from '../framework/framework.ts';
import type { Handle, Nominations } from '../framework/handle.ts';
import { emptyLister, type ClusterLister } from '../framework/listers.ts';
import type { SchedulerApi } from '../framework/scheduler-api.ts';
import { schedulerMetrics } from '../metrics/metrics.ts';
import type { Node, Pod } from '../model/objects.ts';
import { podInfoOf, type PodInfo } from '../model/pod-info.ts';
import { buildProfile, type ProfileConfig } from '../profile/profile.ts';

const refuse = (): Promise<never> => Promise.reject(new Error('the algorithm alone writes nothing'));

/** For what must not be called without an API server. */
export const noApi: SchedulerApi = {
  bind: refuse,
  patchPodStatus: refuse,
  deletePod: refuse,
  updateVolume: refuse,
  updateClaim: refuse,
  event: () => undefined,
};

export interface HarnessOptions {
  readonly clock?: Clock;
  readonly seed?: number;
  readonly profile?: Partial<ProfileConfig>;
  readonly percentageOfNodesToScore?: number;
  readonly lister?: Partial<ClusterLister>;
  readonly nominated?: ReadonlyMap<string, readonly PodInfo[]>;
  readonly extenders?: readonly Extender[];
  readonly api?: Partial<SchedulerApi>;
}

/** Cache, snapshot, profile and algorithm without queue and API server. */
export interface Harness {
  readonly cache: SchedulerCache;
  readonly snapshot: Snapshot;
  readonly framework: Framework;
  readonly algorithm: Algorithm;
  readonly handle: Handle;
  addNodes(nodes: readonly Node[]): void;
  addPods(pods: readonly Pod[]): void;
  newCycle(): CycleState;
  decide(pod: Pod): Promise<Decision>;
  /** Decides, and counts the pod on its node. */
  schedule(pod: Pod): Promise<Decision>;
}

export const makeHarness = (options: HarnessOptions = {}): Harness => {
  const clock = options.clock ?? manualClock();
  const random = seededRandom(options.seed ?? 1);
  const metrics = schedulerMetrics();
  const nominated = options.nominated ?? new Map<string, readonly PodInfo[]>();
  const nominations: Nominations = {
    podsOn: (name) => nominated.get(name) ?? [],
    isEmpty: nominated.size === 0,
  };
  const extenders = options.extenders ?? [];
  let handle: Handle | undefined;
  const framework = buildProfile(
    { schedulerName: 'default-scheduler', ...options.profile },
    (getFramework) =>
      (handle = {
        clock,
        // Apart from the draws of ties, which a reference repeats.
        random: seededRandom(options.seed ?? 1),
        log: silentLog,
        metrics,
        lister: { ...emptyLister, ...options.lister },
        api: { ...noApi, ...options.api },
        nominations,
        extenders,
        features: { balancedAllocationByChange: true, taintsInStatus: true },
        framework: getFramework,
        activate: () => undefined,
        allowWaitingPod: () => undefined,
        rejectWaitingPod: () => undefined,
        waitingPods: () => [],
      }),
  );
  const algorithm = new Algorithm({
    clock,
    random,
    log: silentLog,
    extenders,
    percentageOfNodesToScore: options.percentageOfNodesToScore ?? 0,
  });
  const cache = new SchedulerCache({ clock });
  const snapshot = new Snapshot();
  const newCycle = (): CycleState => {
    cache.updateSnapshot(snapshot);
    return new CycleState(snapshot);
  };
  const decideFor = (info: PodInfo): Promise<Decision> =>
    algorithm.decide(framework, newCycle(), info, { keepRaw: true, moveStart: true });
  return {
    cache,
    snapshot,
    framework,
    algorithm,
    handle: handle!,
    addNodes: (nodes) => nodes.forEach((node) => cache.setNode(node)),
    addPods: (pods) => pods.forEach((pod) => cache.setPod(pod)),
    newCycle,
    decide: (pod) => decideFor(podInfoOf(pod)),
    async schedule(pod) {
      const info = podInfoOf(pod);
      const decision = await decideFor(info);
      if (decision.kind === 'placed') cache.assumePod(info, decision.nodeName);
      return decision;
    },
  };
};
