import {
  badRequest,
  findCondition,
  forbidden,
  formatTime,
  hasStatusReason,
  isConflict,
  isConditionTrue,
  StatusError,
  timeout,
  withCondition,
  type Condition,
  type KubernetesObject,
  type StatusDetails,
} from '../../../api/meta/index.ts';
import {
  selectorFromObject,
  selectorOrNothing,
  type LabelSelectorObject,
} from '../../../api/selector/index.ts';
import { int, maybeObj, num, obj, str, strs, type Obj } from '../../../api/validation/read.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import { mutate } from '../generic/mutate.ts';
import { checkPreconditions } from '../generic/object-deletes.ts';
import type { DeleteOptions, RestStorage, Scope } from '../rest-storage.ts';
import { withPodCondition } from '../strategies/pods.ts';
import { createdStatus } from './answer.ts';

/** Evictions that the disruption controller has not yet confirmed; more than this and it must be stuck. */
const DISRUPTED_PODS_MAX = 2_000;
const CONFLICT_ATTEMPTS_MAX = 20;
const CONFLICT_PAUSE_MS = 500;
const RETRY_SECONDS = 10;
const CAUSE = 'DisruptionBudget';
const PDB_RESOURCE = { group: 'policy', resource: 'poddisruptionbudget' };
const POD_KIND = { group: '', resource: 'Pod' };
const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget.";

type Preconditions = NonNullable<DeleteOptions['preconditions']>;

const tooManyRequests = (message: string, retryAfterSeconds = 0): StatusError =>
  new StatusError('TooManyRequests', VIOLATES, {
    code: 429,
    details: { retryAfterSeconds, causes: [{ reason: CAUSE, message }] },
  });

const stillProcessed = (name: string): StatusError =>
  tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);

const budgetForbids = (name: string, why: string, cause: string): StatusError => {
  const error = forbidden(PDB_RESOURCE, name, why);
  const details: StatusDetails = {
    ...error.details,
    causes: [
      {
        reason: CAUSE,
        message: `The disruption budget ${name} does not allow evicting pods currently: ${cause}`,
      },
    ],
  };
  return new StatusError(error.reason, error.message, { code: error.code, details });
};

const exhausted = (name: string, status: Obj): StatusError => {
  const condition = findCondition((status['conditions'] ?? []) as Condition[], 'DisruptionAllowed');
  const says = condition?.status === 'False' && condition.message ? condition : undefined;
  const [needs, has] = [int(status, 'desiredHealthy'), int(status, 'currentHealthy')];
  if (says?.reason === 'SyncFailed')
    return tooManyRequests(
      `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${says.message}`,
    );
  if (has <= needs)
    return tooManyRequests(
      `The disruption budget ${name} needs ${needs} healthy pods and has ${has} currently`,
    );
  if (says)
    return tooManyRequests(
      `The disruption budget ${name} does not allow evicting pods currently (${says.reason}): ${says.message}`,
    );
  return tooManyRequests(`The disruption budget ${name} does not allow evicting pods currently`);
};

/** Takes one from what the budget allows, or refuses. */
const charge = (budget: KubernetesObject, podName: string, nowMs: number): void => {
  const name = budget.metadata?.name ?? '';
  const status = obj(budget, 'status');
  const allowed = int(status, 'disruptionsAllowed');
  const disrupted = obj(status, 'disruptedPods');
  if (int(status, 'observedGeneration') < (budget.metadata?.generation ?? 0)) throw stillProcessed(name);
  if (allowed < 0)
    throw budgetForbids(name, 'pdb disruptions allowed is negative', 'pdb disruptions allowed is negative');
  if (Object.keys(disrupted).length > DISRUPTED_PODS_MAX)
    throw budgetForbids(
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
      'too many pending evictions not confirmed by PDB controller',
    );
  if (allowed === 0) throw exhausted(name, status);
  const now = formatTime(nowMs);
  budget['status'] = {
    ...status,
    disruptionsAllowed: allowed - 1,
    ...(allowed === 1 && {
      conditions: withCondition(
        (status['conditions'] ?? []) as Condition[],
        {
          type: 'DisruptionAllowed',
          status: 'False',
          reason: 'InsufficientPods',
          message: '',
          observedGeneration: int(status, 'observedGeneration'),
        },
        now,
      ),
    }),
    disruptedPods: { ...disrupted, [podName]: now },
  };
};

const selects = (budget: KubernetesObject, pod: KubernetesObject): boolean => {
  const selector = maybeObj(obj(budget, 'spec'), 'selector') as LabelSelectorObject | undefined;
  return selectorOrNothing(() => selectorFromObject(selector)).matches(pod.metadata?.labels ?? {});
};

const isReady = (pod: KubernetesObject): boolean =>
  isConditionTrue((obj(pod, 'status')['conditions'] ?? []) as Condition[], 'Ready');

const isOver = (pod: KubernetesObject): boolean =>
  ['Succeeded', 'Failed'].includes(str(obj(pod, 'status'), 'phase')) ||
  pod.metadata?.deletionTimestamp !== undefined;

/** The pod disturbs no one when it goes: it has ended, or never began. */
const needsNoBudget = (pod: KubernetesObject): boolean =>
  isOver(pod) || str(obj(pod, 'status'), 'phase') === 'Pending';

/** A pod that is not ready counts for nothing; it may go while enough others are healthy. */
const mayGoUnready = (budget: KubernetesObject): boolean => {
  const status = obj(budget, 'status');
  const [has, needs] = [int(status, 'currentHealthy'), int(status, 'desiredHealthy')];
  return (
    str(obj(budget, 'spec'), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow' || (has >= needs && needs > 0)
  );
};

const deleteOptionsOf = (eviction: KubernetesObject, isDryRun: boolean): DeleteOptions => {
  const options = obj(eviction, 'deleteOptions');
  const asked = strs(options, 'dryRun').length > 0;
  const preconditions = maybeObj(options, 'preconditions') as Preconditions | undefined;
  const policy = str(options, 'propagationPolicy');
  return {
    dryRun: isDryRun || asked,
    gracePeriodSeconds: num(options, 'gracePeriodSeconds'),
    preconditions,
    ...(policy !== '' && { propagationPolicy: policy as NonNullable<DeleteOptions['propagationPolicy']> }),
    validate: async () => {},
  };
};

export const podEviction = (pods: GenericStore, budgets: GenericStore): RestStorage => {
  const { clock } = pods.core;
  const pause = (): Promise<void> => new Promise((resolve) => void clock.after(CONFLICT_PAUSE_MS, resolve));

  const remove = async (scope: Scope, name: string, options: DeleteOptions): Promise<void> => {
    let { preconditions } = options;
    if (!options.dryRun) {
      const held = await mutate(pods, scope, name, {
        dryRun: false,
        change(pod) {
          checkPreconditions(
            pod,
            { preconditions: options.preconditions },
            (why) =>
              new StatusError(
                'Conflict',
                `Operation cannot be fulfilled on ${POD_KIND.resource} ${JSON.stringify(name)}: ${why}`,
                {
                  code: 409,
                  details: { name, kind: POD_KIND.resource },
                },
              ),
          );
          pod['status'] = withPodCondition(
            obj(pod, 'status'),
            {
              type: 'DisruptionTarget',
              status: 'True',
              reason: 'EvictionByEvictionAPI',
              message: 'Eviction API: evicting',
            },
            clock.nowMs(),
          );
        },
      });
      // The condition is our own change: the client's precondition moves with it.
      if (preconditions?.resourceVersion !== undefined)
        preconditions = { ...preconditions, resourceVersion: String(held.revision) };
    }
    await pods.delete(scope, name, { ...options, preconditions });
  };

  const budgetOf = async (scope: Scope, pod: KubernetesObject): Promise<KubernetesObject | undefined> => {
    const { objects } = await budgets.core.cache.list(budgets.core.prefix(scope.namespace), { at: 'latest' });
    const found = objects.map(({ object }) => object).filter((budget) => selects(budget, pod));
    if (found.length > 1)
      throw new StatusError(
        '',
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
        { code: 500 },
      );
    return found[0];
  };

  /** What ended, or never began, goes without asking a budget. True: it is deleted. */
  const removeWithoutBudget = async (
    scope: Scope,
    name: string,
    options: DeleteOptions,
  ): Promise<KubernetesObject | undefined> => {
    const isPinned = options.preconditions?.resourceVersion !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      const { object: pod } = await pods.get(scope, name, { resourceVersion: '' });
      if (!needsNoBudget(pod)) return pod;
      const preconditions =
        isOver(pod) || isPinned
          ? options.preconditions
          : { ...options.preconditions, resourceVersion: pod.metadata?.resourceVersion };
      try {
        await remove(scope, name, { ...options, preconditions });
        return undefined;
      } catch (error) {
        if (!isConflict(error) || isPinned || attempt === CONFLICT_ATTEMPTS_MAX) throw error;
        await pause();
      }
    }
  };

  return {
    async createNamed(scope, name, eviction, { dryRun, validate }) {
      if (eviction.metadata?.name !== name)
        throw badRequest('name in URL does not match name in Eviction object');
      const options = deleteOptionsOf(eviction, dryRun);
      await validate(eviction, undefined);
      const pod = await removeWithoutBudget(scope, name, options);
      if (pod === undefined) return createdStatus();
      const budget = await budgetOf(scope, pod);
      const budgetName = budget?.metadata?.name ?? '';
      if (budget !== undefined && !isReady(pod) && mayGoUnready(budget)) {
        const preconditions = {
          ...options.preconditions,
          resourceVersion: options.preconditions?.resourceVersion ?? pod.metadata?.resourceVersion,
        };
        try {
          await remove(scope, name, { ...options, preconditions });
        } catch (error) {
          // The pod moved, perhaps to ready: the client asks again.
          if (isConflict(error) && options.preconditions?.resourceVersion === undefined)
            throw stillProcessed(budgetName);
          throw error;
        }
        return createdStatus();
      }
      if (budget !== undefined)
        try {
          await mutate(budgets, scope, budgetName, {
            dryRun: options.dryRun,
            change: (draft) => charge(draft, name, clock.nowMs()),
          });
        } catch (error) {
          if (hasStatusReason(error, 'Conflict'))
            throw timeout(
              `couldn't update PodDisruptionBudget ${JSON.stringify(budgetName)} due to conflicts`,
              RETRY_SECONDS,
            );
          throw error;
        }
      await remove(scope, name, options);
      return createdStatus();
    },
  };
};
