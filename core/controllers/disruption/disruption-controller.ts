import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { findCondition, formatTime, isNotFound, objectKey, parseTime } from '../../api/meta/index.ts';
import { formatLabelSelector, selectorFromObject, selectorOrNothing } from '../../api/selector/index.ts';
import { POD, POD_DISRUPTION_BUDGET } from '../../client/index.ts';
import type { HandlerResult, Pod, PodDisruptionBudget, Stored } from '../../client/index.ts';
import type { V1PodDisruptionBudgetStatus } from '../../api/schema/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { budgetStatus, DELETION_TIMEOUT_MS, disruptedPods, failedStatus } from './budget-status.ts';
import { desiredHealthy, ExpectedScale, needsScale } from './expected-scale.ts';

const WORKERS = 1;

/** Says how many pods of each budget may be evicted now. The API server grants evictions by it. */
export const disruptionController: ControllerDefinition<ControllerSettings> = {
  name: 'disruption-controller',
  aliases: ['disruption'],
  serviceAccount: 'disruption-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers, events, clock } = context;
    const budgets = informers.informer(POD_DISRUPTION_BUDGET);
    const pods = informers.informer(POD);
    const scale = new ExpectedScale(client, informers, clock);

    const write = async (
      budget: Stored<PodDisruptionBudget>,
      status: V1PodDisruptionBudgetStatus,
    ): Promise<void> => {
      if (isDeepStrictEqual({ ...budget.status }, { ...status })) return;
      try {
        // With the version that was read: an eviction granted meanwhile must not be forgotten.
        await client
          .resource(POD_DISRUPTION_BUDGET, budget.metadata.namespace)
          .updateStatus({ ...budget, status });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };

    const countsFor = async (
      budget: Stored<PodDisruptionBudget>,
      selected: readonly Stored<Pod>[],
    ): Promise<{ expected: number; desired: number }> => {
      if (!needsScale(budget))
        return { expected: selected.length, desired: desiredHealthy(budget, selected.length) };
      const { expected, unmanaged } = await scale.of(selected);
      if (unmanaged.length > 0)
        events.event(
          budget,
          'Warning',
          'UnmanagedPods',
          `Pods selected by this PodDisruptionBudget (selector: ${formatLabelSelector(budget.spec?.selector)}) were found to be unmanaged. ` +
            'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
            'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
        );
      return { expected, desired: desiredHealthy(budget, expected) };
    };

    const sync = async (budget: Stored<PodDisruptionBudget>): Promise<HandlerResult> => {
      const { namespace = '' } = budget.metadata;
      const selector = selectorFromObject(budget.spec?.selector);
      const selected = pods.store
        .inNamespace(namespace)
        .filter(({ metadata }) => selector.matches(metadata.labels));
      if (selected.length === 0) events.event(budget, 'Normal', 'NoPods', 'No matching pods found');
      let counts: { expected: number; desired: number };
      try {
        counts = await countsFor(budget, selected);
      } catch (error) {
        const why = messageOf(error);
        events.event(
          budget,
          'Warning',
          'CalculateExpectedPodCountFailed',
          `Failed to calculate the number of expected pods: ${why}`,
        );
        await write(budget, failedStatus(budget, why, clock.nowMs()));
        throw error;
      }
      const nowMs = clock.nowMs();
      const { kept, expired, recheckMs } = disruptedPods(budget, selected, nowMs);
      for (const pod of expired)
        events.event(
          pod,
          'Warning',
          'NotDeleted',
          `Pod was expected by PDB ${objectKey(budget)} to be deleted but it wasn't`,
        );
      await write(budget, budgetStatus(budget, selected, counts, kept, nowMs));
      return recheckMs === undefined ? undefined : { requeueAfterMs: recheckMs };
    };

    const loop = workLoop(context, {
      name: 'disruption',
      workers: WORKERS,
      async handle(key) {
        const budget = budgets.store.get(key);
        return budget && sync(budget);
      },
    });

    /** A pod that was to be disrupted and was not: anyone who acts on the condition must know. */
    const stale = workLoop(context, {
      name: 'stale_pod_disruption',
      workers: WORKERS,
      async handle(key) {
        const pod = pods.store.get(key);
        const condition = findCondition(pod?.status?.conditions, 'DisruptionTarget');
        if (!pod || pod.metadata.deletionTimestamp || condition?.status !== 'True') return;
        const ageMs = clock.nowMs() - (parseTime(condition.lastTransitionTime ?? '') ?? 0);
        if (ageMs <= DELETION_TIMEOUT_MS) return { requeueAfterMs: DELETION_TIMEOUT_MS - ageMs + 1 };
        const body = {
          metadata: { uid: pod.metadata.uid },
          status: {
            conditions: [
              { type: 'DisruptionTarget', status: 'False', lastTransitionTime: formatTime(clock.nowMs()) },
            ],
          },
        };
        try {
          await client
            .resource(POD, pod.metadata.namespace)
            .patchStatus(pod.metadata.name, { type: 'strategic', body });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      },
    });

    const queueFor = (pod: Stored<Pod>): void => {
      for (const budget of budgets.store.inNamespace(pod.metadata.namespace ?? ''))
        if (selectorOrNothing(() => selectorFromObject(budget.spec?.selector)).matches(pod.metadata.labels))
          loop.queue.add(objectKey(budget));
      if (findCondition(pod.status?.conditions, 'DisruptionTarget')?.status === 'True')
        stale.queue.add(objectKey(pod));
    };
    budgets.addHandler({
      added: (budget) => loop.queue.add(objectKey(budget)),
      updated: (_, budget) => loop.queue.add(objectKey(budget)),
    });
    pods.addHandler({
      added: queueFor,
      updated: (before, after) => {
        queueFor(after);
        if (!isDeepStrictEqual(before.metadata.labels, after.metadata.labels)) queueFor(before);
      },
      deleted: queueFor,
    });
    return {
      async run(signal) {
        await Promise.all([loop.run(signal), stale.run(signal)]);
      },
    };
  },
};
