import { groupResourceText, type GroupResource } from '../meta/index.ts';
import { claimEvaluator } from './claim-evaluator.ts';
import { countEvaluator } from './count-evaluator.ts';
import { deviceClaimEvaluator } from './device-claim-evaluator.ts';
import type { Evaluator } from './evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';
import { serviceEvaluator } from './service-evaluator.ts';

const OWN: readonly Evaluator[] = [podEvaluator, serviceEvaluator, claimEvaluator, deviceClaimEvaluator];

/** What no quota counts: reviews and the like are not kept, and events never were. */
const IGNORED: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'events',
  'events.events.k8s.io',
]);

/** Undefined for what no quota counts. */
export const evaluatorOf = (resource: GroupResource): Evaluator | undefined => {
  if (IGNORED.has(groupResourceText(resource))) return undefined;
  const own = OWN.find(
    (one) => one.resource.group === resource.group && one.resource.resource === resource.resource,
  );
  return own ?? countEvaluator(resource);
};
