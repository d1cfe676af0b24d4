import { messageOf } from '../../base/errors.ts';
import { findCondition, isNotFound } from '../../api/meta/index.ts';
import { NODE, updateOnConflict, type Node, type Stored } from '../../client/index.ts';
import type { ControllerDefinition } from '../../controllers/runtime/controller.ts';
import { repeat } from '../../controllers/runtime/work-loop.ts';
import type { CloudSettings } from '../config/config.ts';
import { providerFor } from '../run/provider-for.ts';

export const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';
const EXCLUDE_LABEL = 'node.kubernetes.io/exclude-from-lifecycle-management';

const hasShutdownTaint = ({ spec }: Node): boolean =>
  (spec?.taints ?? []).some(({ key }) => key === SHUTDOWN_TAINT);

/** Undefined: it is so already. */
const withShutdownTaint = (node: Stored<Node>, isWanted: boolean): Node | undefined => {
  if (hasShutdownTaint(node) === isWanted) return undefined;
  const others = (node.spec?.taints ?? []).filter(({ key }) => key !== SHUTDOWN_TAINT);
  const taints = isWanted ? [...others, { key: SHUTDOWN_TAINT, effect: 'NoSchedule' }] : others;
  return { ...node, spec: { ...node.spec, taints } };
};

/** Deletes nodes whose instance is gone, and taints those whose instance is stopped. A ready node is left alone. */
export const cloudNodeLifecycleController: ControllerDefinition<CloudSettings> = {
  name: 'cloud-node-lifecycle-controller',
  aliases: ['cloud-node-lifecycle'],
  serviceAccount: 'node-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock, log } = context;
    const { instances } = providerFor(context, settings);
    if (!instances) return undefined;
    const nodes = informers.informer(NODE);
    const resource = client.resource(NODE);

    const setTaint = async (node: Stored<Node>, isWanted: boolean, signal: AbortSignal): Promise<void> => {
      if (hasShutdownTaint(node) === isWanted) return;
      await updateOnConflict(resource, node.metadata.name, {
        clock,
        signal,
        change: (read) => withShutdownTaint(read, isWanted),
      });
    };

    const remove = async (node: Stored<Node>): Promise<void> => {
      const { name, uid } = node.metadata;
      events.event(
        node,
        'Normal',
        'DeletingNode',
        `Deleting node ${name} because it does not exist in the cloud provider`,
      );
      try {
        // By uid: a host that comes back under its old name is another one.
        await resource.delete(name, { preconditions: { uid } });
      } catch (error) {
        if (isNotFound(error)) return;
        events.event(
          node,
          'Warning',
          'DeletingNodeFailed',
          `Failed deleting node ${name}: ${messageOf(error)}`,
        );
        throw error;
      }
    };

    const look = async (node: Stored<Node>, signal: AbortSignal): Promise<void> => {
      if (node.metadata.labels?.[EXCLUDE_LABEL] !== undefined) return;
      const isReady = findCondition(node.status?.conditions, 'Ready')?.status === 'True';
      if (isReady) await setTaint(node, false, signal);
      else if (!(await instances.exists(node))) await remove(node);
      else if (await instances.isShutDown(node)) await setTaint(node, true, signal);
    };

    return {
      run: (signal) =>
        repeat(context, settings['node-monitor-period'], signal, async () => {
          for (const node of nodes.store.list()) {
            if (signal.aborted) return;
            try {
              await look(node, signal);
            } catch (error) {
              log.write('warn', 'a node could not be compared with the cloud', {
                node: node.metadata.name,
                error: messageOf(error),
              });
            }
          }
        }),
    };
  },
};
