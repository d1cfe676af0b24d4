import { formatTime, isNotFound, isConflict, objectKey, type Condition } from '../../api/meta/index.ts';
import { isPodTerminal, NODE, POD, type Pod, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import { PODS_BY_NODE, podsOnNode } from '../runtime/pod-indexers.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { evictionTimeMs, noExecuteTaints } from './tolerations.ts';

const WORKERS = 8;

/** Deletes pods from nodes whose NoExecute taints they do not tolerate, or not for longer. */
export const taintEvictionController: ControllerDefinition<ControllerSettings> = {
  name: 'taint-eviction-controller',
  aliases: [],
  serviceAccount: 'node-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers, events, clock } = context;
    const nodes = informers.informer(NODE);
    const pods = informers.informer(POD, { indexers: PODS_BY_NODE });
    /** Pods with a time to go, to tell when it is called off. Bounded by the pods that there are. */
    const scheduled = new Set<string>();

    const evict = async (pod: Stored<Pod>): Promise<void> => {
      const { name, namespace, uid } = pod.metadata;
      events.event(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${objectKey(pod)}`);
      const condition: Condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
        lastTransitionTime: formatTime(clock.nowMs()),
      };
      const body = { metadata: { uid }, status: { conditions: [condition] } };
      const resource = client.resource(POD, namespace);
      try {
        await resource.patchStatus(name, { type: 'strategic', body });
        await resource.delete(name, { preconditions: { uid } });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    };

    const loop = workLoop(context, {
      name: 'noexec_taint_pod',
      workers: WORKERS,
      async handle(key) {
        const pod = pods.store.get(key);
        const isHere = pod && !pod.metadata.deletionTimestamp && !isPodTerminal(pod);
        const node = pod?.spec?.nodeName ? nodes.store.get(pod.spec.nodeName) : undefined;
        if (!isHere || !node) {
          scheduled.delete(key);
          return undefined;
        }
        const nowMs = clock.nowMs();
        const atMs = evictionTimeMs(pod, noExecuteTaints(node.spec?.taints), nowMs);
        if (atMs === Infinity) {
          if (scheduled.delete(key))
            events.event(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`);
          return undefined;
        }
        scheduled.add(key);
        if (atMs > nowMs) return { requeueAfterMs: atMs - nowMs };
        scheduled.delete(key);
        return evict(pod);
      },
    });
    const taintsText = (node: { spec?: { taints?: object[] } }): string =>
      JSON.stringify(node.spec?.taints ?? []);
    const queuePodsOf = (name: string): void => {
      for (const pod of podsOnNode(pods.store, name)) loop.queue.add(objectKey(pod));
    };
    nodes.addHandler({
      added: ({ metadata }) => queuePodsOf(metadata.name),
      updated: (before, after) => {
        if (taintsText(before) !== taintsText(after)) queuePodsOf(after.metadata.name);
      },
      deleted: ({ metadata }) => queuePodsOf(metadata.name),
    });
    pods.addHandler({
      added: (pod) => loop.queue.add(objectKey(pod)),
      updated: (before, after) => {
        const facts = ({ metadata, spec }: Stored<Pod>): string =>
          JSON.stringify([metadata.uid, spec?.nodeName, spec?.tolerations]);
        if (facts(before) !== facts(after)) loop.queue.add(objectKey(after));
      },
      deleted: (pod) => loop.queue.add(objectKey(pod)),
    });
    return loop;
  },
};
