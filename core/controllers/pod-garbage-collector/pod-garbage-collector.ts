import { messageOf } from '../../base/errors.ts';
import { formatTime, isConflict, isNotFound, parseTime, type Condition } from '../../api/meta/index.ts';
import { isNodeReady, isPodTerminal, NODE, POD, type Pod, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { repeat } from '../runtime/work-loop.ts';

const CHECK_PERIOD_MS = 20_000;
/** A node that is not in the cache is believed to be gone only after this long. */
const QUARANTINE_MS = 40_000;
const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service';

const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';

/** Evicted pods go first, then the oldest. */
const goesFirst = (a: Stored<Pod>, b: Stored<Pod>): number => {
  if (isEvicted(a) !== isEvicted(b)) return isEvicted(a) ? -1 : 1;
  const madeMs = ({ metadata }: Stored<Pod>): number => parseTime(metadata.creationTimestamp ?? '') ?? 0;
  return madeMs(a) - madeMs(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
};

/** Takes away pods that no one else will: of nodes that are gone, never bound, out of service, or long ended. */
export const podGarbageCollector: ControllerDefinition<ControllerSettings> = {
  name: 'pod-garbage-collector-controller',
  aliases: ['podgc'],
  serviceAccount: 'pod-garbage-collector',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, clock, log } = context;
    const pods = informers.informer(POD);
    const nodes = informers.informer(NODE);
    /** Since when a node is missed. Bounded by the names that pods have. */
    const missedSinceMs = new Map<string, number>();

    /** A pod that had not ended is failed first: anyone who counts on it must not wait. */
    const remove = async (pod: Stored<Pod>, condition?: Condition): Promise<void> => {
      const { name, namespace, uid } = pod.metadata;
      const resource = client.resource(POD, namespace);
      try {
        if (!isPodTerminal(pod))
          await resource.patchStatus(name, {
            type: 'strategic',
            body: {
              metadata: { uid },
              status: { phase: 'Failed', ...(condition && { conditions: [condition] }) },
            },
          });
        await resource.delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
      } catch (error) {
        if (isNotFound(error) || isConflict(error)) return;
        log.write('warn', 'a pod could not be collected', { pod: name, error: messageOf(error) });
      }
    };

    const collectTerminated = async (all: readonly Stored<Pod>[]): Promise<void> => {
      const threshold = settings['terminated-pod-gc-threshold'];
      if (threshold <= 0) return;
      const ended = all.filter(isPodTerminal).sort(goesFirst);
      for (const pod of ended.slice(0, Math.max(0, ended.length - threshold))) await remove(pod);
    };

    const collectOutOfService = async (all: readonly Stored<Pod>[]): Promise<void> => {
      for (const pod of all) {
        if (!pod.metadata.deletionTimestamp || !pod.spec?.nodeName) continue;
        const node = nodes.store.get(pod.spec.nodeName);
        if (!node || isNodeReady(node)) continue;
        if (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE_TAINT)) await remove(pod);
      }
    };

    /** Nodes that were missed for long enough, and that the server does not have either. */
    const goneNodes = async (names: ReadonlySet<string>): Promise<Set<string>> => {
      const nowMs = clock.monotonicMs();
      for (const name of missedSinceMs.keys())
        if (!names.has(name) || nodes.store.get(name)) missedSinceMs.delete(name);
      const gone = new Set<string>();
      for (const name of names) {
        if (nodes.store.get(name)) continue;
        const sinceMs = missedSinceMs.get(name) ?? nowMs;
        missedSinceMs.set(name, sinceMs);
        if (nowMs - sinceMs < QUARANTINE_MS) continue;
        if (!(await client.resource(NODE).find(name))) gone.add(name);
      }
      return gone;
    };

    const collectOrphaned = async (all: readonly Stored<Pod>[]): Promise<void> => {
      const gone = await goneNodes(
        new Set(all.flatMap(({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))),
      );
      if (gone.size === 0) return;
      const condition: Condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: formatTime(clock.nowMs()),
      };
      for (const pod of all) if (gone.has(pod.spec?.nodeName ?? '')) await remove(pod, condition);
    };

    const collectUnscheduled = async (all: readonly Stored<Pod>[]): Promise<void> => {
      for (const pod of all) if (pod.metadata.deletionTimestamp && !pod.spec?.nodeName) await remove(pod);
    };

    return {
      run: (signal) =>
        repeat(context, CHECK_PERIOD_MS, signal, async () => {
          const all = pods.store.list();
          await collectTerminated(all);
          await collectOutOfService(all);
          await collectOrphaned(all);
          await collectUnscheduled(all);
        }),
    };
  },
};
