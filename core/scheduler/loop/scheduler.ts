import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import { every } from '../../base/every.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import type { Client, EventRecorder, InformerFactory } from '../../client/index.ts';
import { Algorithm } from '../algorithm/algorithm.ts';
import { SchedulerCache } from '../cache/cache.ts';
import { Snapshot } from '../cache/snapshot.ts';
import { DEFAULT_CONFIGURATION, type SchedulerConfiguration } from '../config/configuration.ts';
import { ExplanationRing } from '../explain/explanation-ring.ts';
import type { Explanation } from '../explain/explanation.ts';
import { answerWhatIf } from '../explain/what-if.ts';
import type { Extender } from '../framework/extender.ts';
import { httpExtender } from '../extender/http-extender.ts';
import { postJsonTo } from '../extender/post-json.ts';
import { EVENT_ASSIGNED_POD_DELETE } from '../framework/cluster-event.ts';
import type { Framework } from '../framework/framework.ts';
import type { SchedulerFeatures } from '../framework/features.ts';
import type { Handle } from '../framework/handle.ts';
import { schedulerMetrics, type SchedulerMetrics } from '../metrics/metrics.ts';
import { DEFAULT_SCHEDULER_NAME, type Pod } from '../model/objects.ts';
import { COSCHEDULING, NODE_RESOURCES_FIT } from '../framework/plugin-names.ts';
import type { NodeResourcesFitArgs } from '../plugins/node-resources-fit/node-resources-fit.ts';
import { buildProfile, type ProfileConfig } from '../profile/profile.ts';
import { PLUGINS, type PluginFactory } from '../profile/registry.ts';
import { QueueingHints } from '../queue/queueing-hints.ts';
import { SchedulingQueue } from '../queue/scheduling-queue.ts';
import { BoundedTasks } from './bounded-tasks.ts';
import { clientApi } from './client-api.ts';
import { clusterInformers } from './cluster-lister.ts';
import type { SchedulerContext } from './context.ts';
import { registerHandlers } from './event-handlers.ts';
import { runSchedulingCycle } from './scheduling-cycle.ts';
import { Turns } from './turns.ts';
import { WaitingPods } from './waiting-pods.ts';

/** Pods bound at the same time. */
export const BINDINGS_MAX = 256;
export const STATUS_WRITES_MAX = 64;
const EXPIRE_ASSUMED_MS = 1000;
/** How long pods may be scheduled in a row before requests and watches get their turn. */
const TURN_MS = 8;
const EVERY_NODE_PERCENT = 100;

export type SchedulerFailure = 'UnknownProfile';

export interface SchedulerOptions {
  readonly client: Client;
  /** Shared with others in the process; `run` starts what it needs of it. */
  readonly informers: InformerFactory;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly config?: SchedulerConfiguration;
  readonly registry?: Registry;
  readonly extenders?: readonly Extender[];
  /** Plugins besides the built-in ones. */
  readonly plugins?: ReadonlyMap<string, PluginFactory>;
  readonly features?: Partial<SchedulerFeatures>;
  /** After so long a pod is tried again though nothing happened; 5 minutes without it. */
  readonly unschedulableStayMaxMs?: number;
  /** 0, the default, keeps an assumed pod until the watch tells of it. */
  readonly assumedPodTtlMs?: number;
}

export interface Scheduler {
  /** Waits for the caches, then schedules until `signal` is aborted and all bindings in progress are done. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the caches are filled. */
  readonly isReady: boolean;
  readonly metrics: SchedulerMetrics;
  readonly explanations: ExplanationRing;
  /** Where the pod would go if it were created now. Binds nothing. */
  whatIf(pod: Pod): Promise<Explanation>;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const usesPlugin = (config: SchedulerConfiguration, name: string): boolean =>
  config.profiles.some(({ plugins }) =>
    Object.values(plugins ?? {}).some((set) => set?.enabled?.some((ref) => ref.name === name)),
  );

/** What an extender alone looks after, the fit of nodes leaves out. */
const withIgnoredResources = (
  profile: ProfileConfig,
  extenders: SchedulerConfiguration['extenders'],
): ProfileConfig => {
  const ignored = extenders.flatMap(({ managedResources = [] }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  );
  if (ignored.length === 0) return profile;
  const args = profile.pluginConfig?.get(NODE_RESOURCES_FIT) as NodeResourcesFitArgs | undefined;
  const merged = { ...args, ignoredResources: [...(args?.ignoredResources ?? []), ...ignored] };
  return {
    ...profile,
    pluginConfig: new Map([...(profile.pluginConfig ?? []), [NODE_RESOURCES_FIT, merged]]),
  };
};

export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { client, informers, clock, random, log } = options;
  const config = options.config ?? DEFAULT_CONFIGURATION;
  const metrics = schedulerMetrics(options.registry ?? new Registry());
  const podGroups = usesPlugin(config, COSCHEDULING);
  const { lister, informer, whenSynced } = clusterInformers(informers, { podGroups });
  const api = clientApi(client, options.events);
  const extenders =
    options.extenders ?? config.extenders.map((extender) => httpExtender(extender, postJsonTo(extender)));
  const cache = new SchedulerCache({ clock, assumedPodTtlMs: options.assumedPodTtlMs ?? 0 });
  const snapshot = new Snapshot();
  const waitingPods = new WaitingPods(clock, metrics);
  const explanations = new ExplanationRing();
  const registry = new Map([...PLUGINS, ...(options.plugins ?? [])]);
  const turns = new Turns();
  let isReady = false;
  let isStopping = false;

  const handleOf = (framework: () => Framework): Handle => ({
    clock,
    random,
    log,
    metrics,
    lister,
    api,
    extenders,
    features: { balancedAllocationByChange: true, taintsInStatus: true, ...options.features },
    // The queue is made of the profiles, so profiles can only ask for it when they run.
    nominations: {
      podsOn: (nodeName) => queue.nominator.podsOn(nodeName),
      get isEmpty() {
        return queue.nominator.isEmpty;
      },
    },
    framework,
    activate: (uids) => queue.activate(uids),
    allowWaitingPod: (uid, plugin) => waitingPods.allow(uid, plugin),
    rejectWaitingPod: (uid, plugin, message) => void waitingPods.reject(uid, plugin, message),
    waitingPods: () => waitingPods.list(),
  });
  const profiles = new Map(
    config.profiles.map((profile) => [
      profile.schedulerName,
      buildProfile(withIgnoredResources(profile, config.extenders), handleOf, registry),
    ]),
  );
  const [sort] = [...profiles.values()].map((framework) => framework.at('QueueSort')[0]);
  const queue = new SchedulingQueue({
    clock,
    metrics,
    less: (a, b) => sort?.less(a, b) ?? false,
    hints: new QueueingHints(profiles.values()),
    preEnqueue: (info) => profiles.get(info.pod.spec.schedulerName ?? '')?.preEnqueue(info),
    podInitialBackoffSeconds: config.podInitialBackoffSeconds,
    podMaxBackoffSeconds: config.podMaxBackoffSeconds,
    ...(options.unschedulableStayMaxMs !== undefined && {
      unschedulableStayMaxMs: options.unschedulableStayMaxMs,
    }),
  });
  const algorithmFor = (percentageOfNodesToScore: number): Algorithm =>
    new Algorithm({ clock, random, log, extenders, percentageOfNodesToScore });
  const context: SchedulerContext = {
    clock,
    log,
    metrics,
    cache,
    snapshot,
    queue,
    lister,
    api,
    extenders,
    waitingPods,
    explanations,
    profiles,
    algorithm: algorithmFor(config.percentageOfNodesToScore),
    bindings: new BoundedTasks(BINDINGS_MAX),
    waits: new BoundedTasks(Number.MAX_SAFE_INTEGER),
    isStopping: () => isStopping,
    writes: new BoundedTasks(STATUS_WRITES_MAX),
  };

  /** Plugins and profiles that were exposed before: they go to zero, not away. */
  const rejecting = new Set<string>();
  const exposeGauges = (): void => {
    for (const [name, count] of Object.entries(queue.counts)) metrics.pendingPods.labels(name).set(count);
    const byPlugin = new Map<string, number>();
    for (const { info, unschedulablePlugins, pendingPlugins } of queue.pending())
      for (const plugin of [...unschedulablePlugins, ...pendingPlugins]) {
        const key = `${plugin}\n${info.pod.spec.schedulerName ?? ''}`;
        byPlugin.set(key, (byPlugin.get(key) ?? 0) + 1);
      }
    for (const key of rejecting) if (!byPlugin.has(key)) byPlugin.set(key, 0);
    for (const [key, count] of byPlugin) {
      rejecting.add(key);
      const [plugin = '', profile = ''] = key.split('\n');
      metrics.unschedulablePods.labels(plugin, profile).set(count);
    }
    metrics.cacheSize.labels('nodes').set(cache.nodeCount);
    metrics.cacheSize.labels('pods').set(cache.podCount);
    metrics.cacheSize.labels('assumed_pods').set(cache.assumedPodCount);
  };

  const scheduleUntilClosed = async (signal: AbortSignal): Promise<void> => {
    let turnStartedMs = clock.monotonicMs();
    for (;;) {
      const queued = await queue.pop();
      if (!queued || signal.aborted) return;
      try {
        await turns.take(() => runSchedulingCycle(context, queued));
      } catch (error) {
        log.write('error', 'A scheduling cycle broke', { pod: queued.info.key, error });
        if (cache.isAssumed(queued.uid)) cache.forgetPod(queued.uid);
        queued.unschedulablePlugins = new Set();
        queue.addUnschedulable(queued);
      }
      if (clock.monotonicMs() - turnStartedMs < TURN_MS) continue;
      await nextTurn();
      turnStartedMs = clock.monotonicMs();
    }
  };

  return {
    metrics,
    explanations,
    get isReady() {
      return isReady;
    },
    async run(signal) {
      const scope = new DisposableStore();
      const isResponsibleFor = (pod: Pod): boolean => profiles.has(pod.spec.schedulerName ?? '');
      const targets = { cache, queue, waitingPods, isResponsibleFor };
      for (const registration of registerHandlers(informer, targets, { podGroups })) scope.add(registration);
      scope.add(metrics.registry.beforeExpose(exposeGauges));
      scope.add(
        every(clock, EXPIRE_ASSUMED_MS, () => {
          for (const info of cache.expireAssumedPods())
            queue.moveAll(EVENT_ASSIGNED_POD_DELETE, info.pod, undefined);
          return Promise.resolve();
        }),
      );
      const stop = (): void => {
        isStopping = true;
        queue.close();
        waitingPods.close();
      };
      signal.addEventListener('abort', stop, { once: true });
      scope.defer(() => signal.removeEventListener('abort', stop));
      try {
        informers.start();
        await whenSynced(signal);
        isReady = !signal.aborted;
        queue.start();
        await scheduleUntilClosed(signal);
        await context.waits.drain();
        await context.bindings.drain();
        await context.writes.drain();
      } finally {
        isReady = false;
        stop();
        scope.dispose();
      }
    },
    whatIf: (pod) =>
      turns.take(() => {
        const name = pod.spec.schedulerName ?? DEFAULT_SCHEDULER_NAME;
        const framework = profiles.get(name);
        if (!framework)
          throw new ReasonError<SchedulerFailure>('UnknownProfile', `no profile is named "${name}"`);
        cache.updateSnapshot(snapshot);
        const algorithm = algorithmFor(EVERY_NODE_PERCENT);
        const budgets = lister.podDisruptionBudgets();
        return answerWhatIf({ clock, random, snapshot, algorithm, framework, budgets }, pod);
      }),
  };
};
