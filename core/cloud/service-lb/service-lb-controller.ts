import { messageOf } from '../../base/errors.ts';
import { isNotFound, objectKey } from '../../api/meta/index.ts';
import type { V1LoadBalancerStatus } from '../../api/schema/index.ts';
import {
  canonicalJson,
  exponentialLimiter,
  NODE,
  runWorkers,
  SERVICE,
  WorkQueue,
  type Node,
  type Service,
  type Stored,
} from '../../client/index.ts';
import type { ControllerDefinition } from '../../controllers/runtime/controller.ts';
import { workLoop } from '../../controllers/runtime/work-loop.ts';
import type { CloudSettings } from '../config/config.ts';
import { providerFor } from '../run/provider-for.ts';
import { isLoadBalancerNode, sameNames } from './load-balancer-nodes.ts';
import {
  changeOf,
  CLEANUP_FINALIZER,
  hasFinalizer,
  needsCleanup,
  wantsLoadBalancer,
} from './service-changes.ts';

const RETRY_MIN_MS = 5_000;
const RETRY_MAX_MS = 300_000;
/** Nodes are looked at all together: one key stands for them. */
const ALL_NODES = 'nodes';

interface Known {
  readonly service: Stored<Service>;
  /** Those its load balancer was last given, in order; undefined before it is there. */
  readonly nodeNames: readonly string[] | undefined;
}

/** Load balancers for services of type LoadBalancer, in upstream's steps and words. */
export const serviceLbController: ControllerDefinition<CloudSettings> = {
  name: 'service-lb-controller',
  aliases: ['service'],
  serviceAccount: 'service-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock, registry, log } = context;
    const { loadBalancers } = providerFor(context, settings);
    if (!loadBalancers) return undefined;
    const clusterName = settings['cluster-name'];
    const services = informers.informer(SERVICE);
    const nodes = informers.informer(NODE);
    const known = new Map<string, Known>();

    const eligibleNodes = (): readonly Stored<Node>[] =>
      nodes.store
        .list()
        .filter(isLoadBalancerNode)
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const namesOf = (list: readonly Stored<Node>[]): readonly string[] =>
      list.map(({ metadata }) => metadata.name);

    const normal = (service: Stored<Service>, reason: string, message: string): void =>
      events.event(service, 'Normal', reason, message);
    const warnNoNodes = (service: Stored<Service>): void =>
      events.event(
        service,
        'Warning',
        'UnAvailableLoadBalancer',
        'There are no available nodes for LoadBalancer',
      );

    /** Through the status, as upstream: that is what the controller's role allows it. */
    const patch = async (service: Stored<Service>, body: unknown): Promise<void> => {
      const { namespace, name } = service.metadata;
      await client.resource(SERVICE, namespace).patchStatus(name, { type: 'strategic', body });
    };

    const writeStatus = async (service: Stored<Service>, next: V1LoadBalancerStatus): Promise<void> => {
      const held = service.status?.loadBalancer?.ingress ?? [];
      const ingress = next.ingress ?? [];
      if (canonicalJson(held) === canonicalJson(ingress)) return;
      const { namespace, name } = service.metadata;
      const body = { status: { loadBalancer: { ingress: ingress.length > 0 ? ingress : null } } };
      try {
        await client.resource(SERVICE, namespace).patchStatus(name, { type: 'merge', body });
      } catch (error) {
        // Gone as soon as its finalizer was: there is no status to write any more.
        if (!isNotFound(error)) throw error;
      }
    };

    const tearDown = async (service: Stored<Service>): Promise<void> => {
      if (await loadBalancers.statusOf(clusterName, service)) {
        normal(service, 'DeletingLoadBalancer', 'Deleting load balancer');
        await loadBalancers.ensureDeleted(clusterName, service);
      }
      if (hasFinalizer(service))
        await patch(service, { metadata: { '$deleteFromPrimitiveList/finalizers': [CLEANUP_FINALIZER] } });
      normal(service, 'DeletedLoadBalancer', 'Deleted load balancer');
      await writeStatus(service, {});
    };

    const ensure = async (key: string, service: Stored<Service>): Promise<void> => {
      normal(service, 'EnsuringLoadBalancer', 'Ensuring load balancer');
      // Before anything is made: else a service could go and leave its load balancer behind.
      if (!hasFinalizer(service)) await patch(service, { metadata: { finalizers: [CLEANUP_FINALIZER] } });
      const hosts = eligibleNodes();
      if (hosts.length === 0) warnNoNodes(service);
      const status = await loadBalancers.ensure(clusterName, service, hosts);
      known.set(key, { service, nodeNames: namesOf(hosts) });
      // Nodes may have come while it was being made.
      nodeQueue.add(ALL_NODES);
      normal(service, 'EnsuredLoadBalancer', 'Ensured load balancer');
      await writeStatus(service, status);
    };

    const reconcile = async (key: string, service: Stored<Service>): Promise<void> => {
      const before = known.get(key)?.service;
      if (before && before.metadata.uid !== service.metadata.uid)
        await loadBalancers.ensureDeleted(clusterName, before);
      known.set(key, { service, nodeNames: known.get(key)?.nodeNames });
      try {
        if (wantsLoadBalancer(service) && !needsCleanup(service)) {
          await ensure(key, service);
          return;
        }
        await tearDown(service);
        known.delete(key);
      } catch (error) {
        const message = `Error syncing load balancer: ${messageOf(error)}`;
        events.event(service, 'Warning', 'SyncLoadBalancerFailed', message);
        throw error;
      }
    };

    const sync = async (key: string): Promise<void> => {
      const service = services.store.get(key);
      if (service) return reconcile(key, service);
      const gone = known.get(key)?.service;
      // Without a finalizer a service is gone before we know: its last state says what to take down.
      if (gone) await loadBalancers.ensureDeleted(clusterName, gone);
      known.delete(key);
    };

    const updateHosts = async (key: string, hosts: readonly Stored<Node>[]): Promise<void> => {
      const held = known.get(key);
      const names = namesOf(hosts);
      if (!held?.nodeNames || !wantsLoadBalancer(held.service) || sameNames(held.nodeNames, names)) return;
      try {
        await loadBalancers.update(clusterName, held.service, hosts);
      } catch (error) {
        const message = `Error updating load balancer with new hosts [${names.join(' ')}]: ${messageOf(error)}`;
        events.event(held.service, 'Warning', 'UpdateLoadBalancerFailed', message);
        loop.queue.add(key);
        return;
      }
      known.set(key, { ...held, nodeNames: names });
      if (hosts.length === 0) warnNoNodes(held.service);
      else normal(held.service, 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
    };

    const nodeQueue = new WorkQueue({ name: 'node', clock, registry });
    const loop = workLoop(context, {
      name: 'service',
      workers: settings['concurrent-service-syncs'],
      rateLimiter: exponentialLimiter(RETRY_MIN_MS, RETRY_MAX_MS),
      handle: sync,
      beside: (signal) =>
        runWorkers({
          queue: nodeQueue,
          workers: 1,
          log,
          signal,
          async handle() {
            const hosts = eligibleNodes();
            for (const key of [...known.keys()]) await updateHosts(key, hosts);
          },
        }),
    });

    services.addHandler({
      added(service) {
        if (wantsLoadBalancer(service) || needsCleanup(service)) loop.queue.add(objectKey(service));
      },
      updated(before, service) {
        const change = changeOf(before, service);
        if (change?.event) normal(service, change.event.reason, change.event.message);
        if (change || needsCleanup(service)) loop.queue.add(objectKey(service));
      },
      deleted(service) {
        if (known.has(objectKey(service))) loop.queue.add(objectKey(service));
      },
    });
    nodes.addHandler({
      added: () => nodeQueue.add(ALL_NODES),
      updated(before, node) {
        if (isLoadBalancerNode(before) !== isLoadBalancerNode(node)) nodeQueue.add(ALL_NODES);
      },
      deleted: () => nodeQueue.add(ALL_NODES),
    });
    return {
      async run(signal) {
        try {
          await loop.run(signal);
        } finally {
          // The next leader listens on the same addresses.
          await loadBalancers.release();
        }
      },
    };
  },
};
