import { isNotFound, objectKey } from '../../api/meta/index.ts';
import { resourceListFrom, resourceListToWire, sameResources, usageFor } from '../../api/quota/index.ts';
import { RESOURCE_QUOTA, type ResourceQuota, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { repeat, workLoop } from '../runtime/work-loop.ts';
import { MeasuredResources } from './measured-resources.ts';

/** Quotas that have never been counted let nothing in: they go first. */
const UNCOUNTED_PRIORITY = 1;

/** Counts what namespaces use of what their quotas limit. Admission charges against this count. */
export const resourceQuotaController: ControllerDefinition<ControllerSettings> = {
  name: 'resourcequota-controller',
  aliases: ['resourcequota'],
  serviceAccount: 'resourcequota-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, clock } = context;
    const quotas = informers.informer(RESOURCE_QUOTA);
    const measured = new MeasuredResources(context, (namespace, evaluator) => {
      for (const quota of quotas.store.inNamespace(namespace))
        if (evaluator.matchingResources(Object.keys(quota.spec?.hard ?? {})).length > 0) queue(quota);
    });

    const isUncounted = ({ spec, status }: Stored<ResourceQuota>): boolean =>
      !status?.used || !sameResources(resourceListFrom(spec?.hard), resourceListFrom(status.hard));
    const queue = (quota: Stored<ResourceQuota>): void =>
      loop.queue.add(objectKey(quota), { priority: isUncounted(quota) ? UNCOUNTED_PRIORITY : 0 });

    const loop = workLoop(context, {
      name: 'resourcequota_primary',
      workers: settings['concurrent-resource-quota-syncs'],
      async handle(key) {
        const quota = quotas.store.get(key);
        if (!quota) return;
        const { namespace = '' } = quota.metadata;
        const hard = resourceListFrom(quota.spec?.hard);
        const resources = await measured.forNames([...hard.keys()]);
        const used = usageFor(
          quota,
          resources.map(({ evaluator, informer }) => ({
            evaluator,
            objects: informer.store.inNamespace(namespace),
          })),
          clock.nowMs(),
        );
        const isSame =
          sameResources(hard, resourceListFrom(quota.status?.hard)) &&
          quota.status?.used !== undefined &&
          sameResources(used, resourceListFrom(quota.status.used));
        if (isSame) return;
        const status = { hard: resourceListToWire(hard), used: resourceListToWire(used) };
        try {
          // With the version that was counted for: admission writes here too, and a conflict counts again.
          await client.resource(RESOURCE_QUOTA, namespace).updateStatus({ ...quota, status });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      },
      beside: (signal) =>
        repeat(context, settings['resource-quota-sync-period'], signal, () => {
          quotas.store.list().forEach(queue);
          return Promise.resolve();
        }),
    });
    quotas.addHandler({
      added: queue,
      updated: (before, after) => {
        // The answer to our own write, and what admission charged, need no recount.
        if (JSON.stringify(before.spec) !== JSON.stringify(after.spec) || isUncounted(after)) queue(after);
      },
    });
    return loop;
  },
};
