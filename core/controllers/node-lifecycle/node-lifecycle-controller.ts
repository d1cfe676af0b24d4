import { messageOf } from '../../base/errors.ts';
import { findCondition, isConflict, isNotFound, objectKey } from '../../api/meta/index.ts';
import { LEASE, NODE, pause, POD, type Node, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import { PODS_BY_NODE, podsOnNode } from '../runtime/pod-indexers.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { repeat, workLoop } from '../runtime/work-loop.ts';
import { NodeHealth } from './node-health.ts';
import { reconcileLabels } from './node-labels.ts';
import { markPodNotReady } from './not-ready-pods.ts';
import {
  applyTaints,
  hasTaint,
  noExecuteGoal,
  NOT_READY,
  noScheduleGoal,
  UNREACHABLE,
  wantedNoExecute,
} from './taints.ts';
import { evictionRate, zoneOf, ZoneQueue, zonesOf, type ZonePolicy } from './zones.ts';

const NODE_LEASE_NAMESPACE = 'kube-node-lease';
const NODE_WORKERS = 8;
const POD_WORKERS = 4;
const EVICTION_PASS_MS = 100;
const readyOf = ({ status }: Node): string | undefined => findCondition(status?.conditions, 'Ready')?.status;

/** Finds nodes that went silent, says so, and has their pods moved elsewhere at a rate that fits the outage. */
export const nodeLifecycleController: ControllerDefinition<ControllerSettings> = {
  name: 'node-lifecycle-controller',
  aliases: ['nodelifecycle'],
  serviceAccount: 'node-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock, log } = context;
    const nodes = informers.informer(NODE);
    const leases = informers.informer(LEASE, { namespace: NODE_LEASE_NAMESPACE });
    const pods = informers.informer(POD, { indexers: PODS_BY_NODE });
    const policy: ZonePolicy = {
      evictionsPerSecond: settings['node-eviction-rate'],
      secondaryEvictionsPerSecond: settings['secondary-node-eviction-rate'],
      largeZoneNodesMin: settings['large-cluster-size-threshold'],
      unhealthyShare: settings['unhealthy-zone-threshold'],
    };
    const health = new NodeHealth({
      monitorGraceMs: settings['node-monitor-grace-period'],
      startupGraceMs: settings['node-startup-grace-period'],
    });
    const zoneQueues = new Map<string, ZoneQueue>();
    let wasAllOut = false;
    const queueOf = (node: Node): ZoneQueue => {
      const zone = zoneOf(node);
      const queue = zoneQueues.get(zone) ?? new ZoneQueue(policy.evictionsPerSecond);
      zoneQueues.set(zone, queue);
      return queue;
    };

    /** Writes what was found out; the node as it then is. */
    const monitor = async (node: Stored<Node>): Promise<Stored<Node>> => {
      const lease = leases.store.find(NODE_LEASE_NAMESPACE, node.metadata.name);
      const status = health.observe(node, lease, clock);
      if (!status) return node;
      try {
        return await client.resource(NODE).updateStatus({ ...node, status });
      } catch (error) {
        // It spoke meanwhile, or is gone: the next pass sees it.
        if (isConflict(error) || isNotFound(error)) return node;
        throw error;
      }
    };

    /** A taint that is there is changed immediately; a new one waits for its turn in the zone. */
    const planEviction = async (node: Stored<Node>): Promise<void> => {
      const wanted = wantedNoExecute(node);
      const held = [NOT_READY, UNREACHABLE].filter((key) => hasTaint(node, key, 'NoExecute'));
      const queue = queueOf(node);
      if (wanted !== undefined && held.length === 0) return queue.add(node.metadata.name);
      queue.remove(node.metadata.name);
      await applyTaints(client, clock, node, () => noExecuteGoal(wanted));
    };

    const look = async (cached: Stored<Node>, isAllOut: boolean): Promise<Stored<Node>> => {
      const node = await monitor(cached);
      const [before, now] = [readyOf(cached), readyOf(node)];
      if (before === 'True' && now !== 'True')
        events.event(
          node,
          'Normal',
          'NodeNotReady',
          `Node ${node.metadata.name} status is now: NodeNotReady`,
        );
      if (now !== 'True')
        for (const pod of podsOnNode(pods.store, node.metadata.name)) podLoop.queue.add(objectKey(pod));
      if (!isAllOut) await planEviction(node);
      return node;
    };

    /** All zones out at the same time means that this side is cut off: nothing is evicted until one is back. */
    const judgeZones = async (present: readonly Stored<Node>[]): Promise<void> => {
      const { zones, isAllOut } = zonesOf(present, policy.unhealthyShare);
      if (isAllOut && !wasAllOut) {
        log.write('warn', 'all zones are fully disrupted: evictions are stopped');
        for (const node of present) {
          queueOf(node).remove(node.metadata.name);
          await applyTaints(client, clock, node, () => noExecuteGoal(undefined));
        }
      }
      if (!isAllOut && wasAllOut) health.pardonAll(clock);
      wasAllOut = isAllOut;
      for (const [zone, queue] of zoneQueues) {
        const known = zones.get(zone);
        if (!known) zoneQueues.delete(zone);
        else queue.setRate(isAllOut ? 0 : evictionRate(known.state, known.size, policy));
      }
    };

    const monitorPass = async (): Promise<void> => {
      const all = nodes.store.list();
      health.keepOnly(new Set(all.map(({ metadata }) => metadata.name)));
      const seen = await Promise.all(
        all.map(async (node) => {
          try {
            return await look(node, wasAllOut);
          } catch (error) {
            log.write('warn', 'a node could not be looked at', {
              node: node.metadata.name,
              error: messageOf(error),
            });
            return node;
          }
        }),
      );
      await judgeZones(seen);
    };

    const isAnyWaiting = (): boolean => [...zoneQueues.values()].some((queue) => queue.size > 0);

    const evictionPass = async (): Promise<void> => {
      for (const queue of zoneQueues.values())
        for (const name of queue.due(clock.monotonicMs())) {
          const node = nodes.store.get(name);
          if (!node) continue;
          try {
            await applyTaints(client, clock, node, (read) => noExecuteGoal(wantedNoExecute(read)));
          } catch (error) {
            queue.add(name);
            throw error;
          }
        }
    };

    let evictions: Promise<void> | undefined;
    /** Passes while nodes wait for their turn, the first when what was found out about them has come back. */
    const evict = async (signal: AbortSignal): Promise<void> => {
      await pause(clock, EVICTION_PASS_MS, signal).catch(() => undefined);
      await repeat(context, EVICTION_PASS_MS, signal, async () => {
        await evictionPass();
        return isAnyWaiting();
      });
    };

    const nodeLoop = workLoop(context, {
      name: 'node_lifecycle_controller',
      workers: NODE_WORKERS,
      async handle(name) {
        const node = nodes.store.get(name);
        if (!node) return;
        await applyTaints(client, clock, node, noScheduleGoal);
        await reconcileLabels(client, node);
      },
    });
    const podLoop = workLoop(context, {
      name: 'node_lifecycle_controller_pods',
      workers: POD_WORKERS,
      async handle(key) {
        const pod = pods.store.get(key);
        const node = pod?.spec?.nodeName ? nodes.store.get(pod.spec.nodeName) : undefined;
        if (pod && node && readyOf(node) !== undefined && readyOf(node) !== 'True')
          await markPodNotReady(context, pod);
      },
    });
    nodes.addHandler({
      added: ({ metadata }) => nodeLoop.queue.add(metadata.name),
      updated: (before, after) => {
        nodeLoop.queue.add(after.metadata.name);
        if (readyOf(before) === 'True' && readyOf(after) !== 'True')
          for (const pod of podsOnNode(pods.store, after.metadata.name)) podLoop.queue.add(objectKey(pod));
      },
    });
    pods.addHandler({
      added: (pod) => podLoop.queue.add(objectKey(pod)),
      updated: (before, after) => {
        if (before.spec?.nodeName !== after.spec?.nodeName) podLoop.queue.add(objectKey(after));
      },
    });
    return {
      async run(signal) {
        await Promise.all([
          nodeLoop.run(signal),
          podLoop.run(signal),
          repeat(context, settings['node-monitor-period'], signal, async () => {
            await monitorPass();
            if (isAnyWaiting()) evictions ??= evict(signal).finally(() => (evictions = undefined));
          }),
        ]);
        await evictions;
      },
    };
  },
};
