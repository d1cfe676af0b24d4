import { formatTime, isConflict, isNotFound } from '../../api/meta/index.ts';
import { NAMESPACE, updateOnConflict, type Namespace, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { conditionsAfter } from './conditions.ts';
import { deleteContent } from './delete-content.ts';

const FINALIZER = 'kubernetes';
/** Lets every API server learn that the namespace goes before its content is looked at. */
const DELETION_GRACE_MS = 5_000;

/** Empties namespaces that are deleted, and lets them go when nothing is left. */
export const namespaceController: ControllerDefinition<ControllerSettings> = {
  name: 'namespace-controller',
  aliases: ['namespace'],
  serviceAccount: 'namespace-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, clock } = context;
    const namespaces = informers.informer(NAMESPACE);
    const resource = client.resource(NAMESPACE);

    const report = async (name: string, change: (namespace: Stored<Namespace>) => Namespace | undefined) =>
      updateOnConflict(resource, name, { clock, status: true, change });

    const finalize = async (namespace: Stored<Namespace>): Promise<void> => {
      const finalizers = (namespace.spec?.finalizers ?? []).filter((name) => name !== FINALIZER);
      await resource.updateSubresource(namespace.metadata.name, 'finalize', {
        ...namespace,
        spec: { ...namespace.spec, finalizers },
      });
    };

    const sync = async (name: string): Promise<{ readonly requeueAfterMs: number } | undefined> => {
      if (!namespaces.store.get(name)?.metadata.deletionTimestamp) return undefined;
      // The cache is for handlers; what is deleted for good is asked of the server.
      const live = await resource.find(name);
      if (!live?.metadata.deletionTimestamp || (live.spec?.finalizers ?? []).length === 0) return undefined;
      const terminating = await report(name, (namespace) =>
        namespace.status?.phase === 'Terminating'
          ? undefined
          : { ...namespace, status: { ...namespace.status, phase: 'Terminating' } },
      );
      if (terminating.metadata.uid !== live.metadata.uid) return undefined;
      const pass = await deleteContent(client, name);
      const now = formatTime(clock.nowMs());
      const reported = await report(name, (namespace) => {
        const conditions = conditionsAfter(namespace.status?.conditions, pass, now);
        return conditions === namespace.status?.conditions
          ? undefined
          : { ...namespace, status: { ...namespace.status, conditions: [...conditions] } };
      });
      const failures = [...pass.discoveryFailures, ...pass.deletionFailures];
      if (failures.length > 0) throw new Error(failures.join('; '));
      if (pass.estimateSeconds > 0)
        return { requeueAfterMs: (Math.floor(pass.estimateSeconds / 2) + 1) * 1000 };
      await finalize(reported);
      return undefined;
    };

    const loop = workLoop(context, {
      name: 'namespace',
      workers: settings['concurrent-namespace-syncs'],
      async handle(name) {
        try {
          return await sync(name);
        } catch (error) {
          if (isNotFound(error)) return undefined;
          if (isConflict(error)) return { requeueAfterMs: 0 };
          throw error;
        }
      },
    });
    const queue = ({ metadata }: Stored<Namespace>): void => {
      if (metadata.deletionTimestamp) loop.queue.addAfter(metadata.name, DELETION_GRACE_MS);
    };
    namespaces.addHandler(
      { added: queue, updated: (_, namespace) => queue(namespace) },
      { resyncMs: settings['namespace-sync-period'] },
    );
    return loop;
  },
};
