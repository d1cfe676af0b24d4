import { isConflict, objectKey } from '../../api/meta/index.ts';
import { sameValue } from '../../api/validation/read.ts';
import {
  HORIZONTAL_POD_AUTOSCALER,
  POD,
  type HorizontalPodAutoscaler,
  type Stored,
} from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { createHpaMetrics } from './hpa-metrics.ts';
import { HpaReconciler, Reported } from './reconciler.ts';

/** Scales the targets of HorizontalPodAutoscalers by their metrics. */
export const horizontalPodAutoscalerController: ControllerDefinition<ControllerSettings> = {
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  serviceAccount: 'horizontal-pod-autoscaler',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock, log, registry } = context;
    const metrics = createHpaMetrics(registry);
    const autoscalers = informers.informer(HORIZONTAL_POD_AUTOSCALER);
    const pods = informers.informer(POD);
    const reconciler = new HpaReconciler({
      client,
      events,
      clock,
      settings,
      autoscalers: autoscalers.store,
      pods: pods.store,
      metrics,
    });
    const loop = workLoop(context, {
      name: 'horizontalpodautoscaler',
      workers: settings['concurrent-horizontal-pod-autoscaler-syncs'],
      async handle(key) {
        const hpa = autoscalers.store.get(key);
        metrics.count(autoscalers.store.size);
        if (!hpa) {
          const [namespace = '', name = ''] = key.split('/');
          metrics.forget(namespace, name);
          return reconciler.forget(key);
        }
        const startMs = clock.monotonicMs();
        const seconds = (): number => (clock.monotonicMs() - startMs) / 1000;
        try {
          const { action, error } = await reconciler.reconcile(hpa);
          metrics.reconciled(action, error === undefined ? 'none' : 'internal', seconds());
        } catch (error) {
          metrics.reconciled('none', 'internal', seconds());
          if (!(error instanceof Reported) && !isConflict(error)) throw error;
          log.write('debug', 'an autoscaler could not be reconciled', { hpa: key, error: error.message });
        }
        return { requeueAfterMs: settings['horizontal-pod-autoscaler-sync-period'] };
      },
    });
    const enqueue = (hpa: Stored<HorizontalPodAutoscaler>): void => loop.queue.add(objectKey(hpa));
    autoscalers.addHandler({
      added: enqueue,
      // Its own writes of the status are no reason for another pass.
      updated: (before, hpa) => {
        if (!sameValue(before.spec, hpa.spec)) enqueue(hpa);
      },
      deleted: enqueue,
    });
    return loop;
  },
};
