import { messageOf } from '../../base/errors.ts';
import { findCondition, formatTime } from '../../api/meta/index.ts';
import { NODE, type Node, type Stored } from '../../client/index.ts';
import type { ControllerDefinition } from '../../controllers/runtime/controller.ts';
import { repeat } from '../../controllers/runtime/work-loop.ts';
import type { CloudSettings } from '../config/config.ts';
import type { Route } from '../provider/provider.ts';
import { providerFor } from '../run/provider-for.ts';

const CONDITIONS = {
  made: { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' },
  failed: {
    status: 'True',
    reason: 'NoRouteCreated',
    message: 'RouteController failed to create a route',
  },
} as const;

const rangesOf = ({ spec }: Node): readonly string[] =>
  spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []);

/** A route for the pods of each node; nodes without one are kept from pods by a condition. */
export const nodeRouteController: ControllerDefinition<CloudSettings> = {
  name: 'node-route-controller',
  aliases: ['route'],
  serviceAccount: 'route-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock } = context;
    const { routes } = providerFor(context, settings);
    if (!routes || !settings['allocate-node-cidrs'] || !settings['configure-cloud-routes']) return undefined;
    const clusterName = settings['cluster-name'];
    const nodes = informers.informer(NODE);

    const setCondition = async (node: Stored<Node>, isMade: boolean): Promise<void> => {
      const next = isMade ? CONDITIONS.made : CONDITIONS.failed;
      const held = findCondition(node.status?.conditions, 'NetworkUnavailable');
      if (held?.status === next.status && held.reason === next.reason) return;
      const now = formatTime(clock.nowMs());
      const condition = {
        type: 'NetworkUnavailable',
        ...next,
        lastTransitionTime: now,
        lastHeartbeatTime: now,
      };
      const body = { status: { conditions: [condition] } };
      await client.resource(NODE).patchStatus(node.metadata.name, { type: 'strategic', body });
    };

    const create = async (node: Stored<Node>, route: Route): Promise<boolean> => {
      try {
        await routes.create(clusterName, route);
        return true;
      } catch (error) {
        const text = `Could not create route ${route.name} ${route.destinationCidr} for node ${route.targetNode}: ${messageOf(error)}`;
        events.event(node, 'Warning', 'FailedToCreateRoute', text);
        return false;
      }
    };

    const reconcile = async (): Promise<void> => {
      const wanted = new Set<string>();
      const present = new Map(
        (await routes.list(clusterName)).map((route) => [route.destinationCidr, route]),
      );
      for (const node of nodes.store.list()) {
        const { name, uid } = node.metadata;
        const ranges = rangesOf(node);
        let isMade = ranges.length > 0;
        for (const destinationCidr of ranges) {
          wanted.add(destinationCidr);
          if (present.get(destinationCidr)?.targetNode === name) continue;
          isMade = (await create(node, { name: uid, targetNode: name, destinationCidr })) && isMade;
        }
        await setCondition(node, isMade);
      }
      for (const route of present.values())
        if (!wanted.has(route.destinationCidr)) await routes.delete(clusterName, route);
    };

    return { run: (signal) => repeat(context, settings['route-reconciliation-period'], signal, reconcile) };
  },
};
