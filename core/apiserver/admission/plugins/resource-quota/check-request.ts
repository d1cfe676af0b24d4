import type { V1ResourceQuota } from '../../../../api/schema/index.ts';
import {
  addResources,
  exceededResources,
  growthOf,
  maskResources,
  quotaMatches,
  resourceListFrom,
  resourceListText,
  resourceListToWire,
  withoutZeros,
  type Evaluator,
  type ResourceList,
} from '../../../../api/quota/index.ts';
import type { AdmissionAttributes } from '../../attributes.ts';
import { refusal } from '../../refusal.ts';

/** Quotas with parsed status, as they would be after the requests that were let through. */
export interface RunningQuota {
  readonly quota: V1ResourceQuota;
  readonly hard: ResourceList;
  readonly used: ResourceList;
}

export const runningQuota = (quota: V1ResourceQuota): RunningQuota => ({
  quota,
  hard: resourceListFrom(quota.status?.hard),
  used: resourceListFrom(quota.status?.used),
});

export const chargedQuota = ({ quota, used }: RunningQuota): V1ResourceQuota => ({
  ...quota,
  status: { ...quota.status, used: resourceListToWire(used) },
});

const nameOf = ({ quota }: RunningQuota): string => quota.metadata?.name ?? '';

/** Whether the quota is for this object. Refuses where the object does not say what the quota must know. */
const applies = (running: RunningQuota, attributes: AdmissionAttributes, evaluator: Evaluator): boolean => {
  const object = attributes.object!;
  if (!quotaMatches(running.quota, evaluator, object)) return false;
  const names = evaluator.matchingResources([...running.hard.keys()]);
  const missing = evaluator.missing(names, object);
  if (missing !== undefined) throw refusal(attributes, `failed quota: ${nameOf(running)}: ${missing}`);
  if (names.some((name) => !running.used.has(name)))
    throw refusal(attributes, `status unknown for quota: ${nameOf(running)}, resources: ${names.join(',')}`);
  return true;
};

/** What the request adds, for a quota that held the object before and for one that did not. */
const deltaOf = (
  running: RunningQuota,
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  nowMs: number,
): ResourceList => {
  const { operation, object, oldObject } = attributes;
  const usage = evaluator.usage(object!, nowMs);
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([name]) => name);
  if (negative.length > 0)
    throw refusal(attributes, `quota usage is negative for resource(s): ${negative.join(',')}`);
  if (operation !== 'UPDATE') return usage;
  if (!oldObject)
    throw refusal(attributes, 'unable to get previous usage since prior version of object was not found');
  // An update that creates has no resourceVersion to compare with: it is charged in full.
  if (!oldObject.metadata?.resourceVersion || !quotaMatches(running.quota, evaluator, oldObject))
    return usage;
  return growthOf(usage, evaluator.usage(oldObject, nowMs));
};

const charge = (
  running: RunningQuota,
  attributes: AdmissionAttributes,
  delta: ResourceList,
): RunningQuota => {
  const requested = maskResources(withoutZeros(delta), running.hard.keys());
  if (requested.size === 0) return running;
  const used = addResources(running.used, requested);
  if (attributes.subresource !== 'status') {
    const exceeded = exceededResources(maskResources(used, requested.keys()), running.hard);
    if (exceeded.length > 0) {
      const show = (list: ResourceList): string => resourceListText(maskResources(list, exceeded));
      throw refusal(
        attributes,
        `exceeded quota: ${nameOf(running)}, requested: ${show(requested)}, used: ${show(running.used)}, limited: ${show(running.hard)}`,
      );
    }
  }
  return { ...running, used };
};

/** The quotas as the request would leave them; throws where one of them does not allow it. */
export const checkRequest = (
  quotas: readonly RunningQuota[],
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  nowMs: number,
): readonly RunningQuota[] => {
  const interesting = new Set(quotas.filter((running) => applies(running, attributes, evaluator)));
  return quotas.map((running) =>
    interesting.has(running)
      ? charge(running, attributes, deltaOf(running, attributes, evaluator, nowMs))
      : running,
  );
};
