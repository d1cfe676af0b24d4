import { assert } from '../../../base/assert.ts';
import { apiVersionOf, type GroupVersionKind } from '../../meta/group-version.ts';
import type { KubernetesObject } from '../../meta/object-meta.ts';
import { definitionFromV1Beta1 } from './custom-resource-definition.ts';
import { eventFromCore, eventToCore } from './event.ts';
import { autoscalerFromV1, autoscalerToV1 } from './horizontal-pod-autoscaler.ts';

export { definitionFromV1Beta1 } from './custom-resource-definition.ts';
export { eventFieldLabel } from './event.ts';

type Convert = (object: KubernetesObject) => KubernetesObject;

const CONVERSIONS: Readonly<Record<string, Convert | undefined>> = {
  'CustomResourceDefinition apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1': definitionFromV1Beta1,
  'Event events.k8s.io/v1 v1': eventToCore,
  'Event v1 events.k8s.io/v1': eventFromCore,
  'HorizontalPodAutoscaler autoscaling/v1 autoscaling/v2': autoscalerFromV1,
  'HorizontalPodAutoscaler autoscaling/v2 autoscaling/v1': autoscalerToV1,
};

/**
 * The object in another version that its kind is served in. The object given is not changed. A pair that no
 * table serves is a defect of the caller.
 */
export const convertObject = (
  object: KubernetesObject,
  from: GroupVersionKind,
  to: GroupVersionKind,
): KubernetesObject => {
  const [fromVersion, toVersion] = [apiVersionOf(from), apiVersionOf(to)];
  if (fromVersion === toVersion) return object;
  const convert = CONVERSIONS[`${from.kind} ${fromVersion} ${toVersion}`];
  assert(convert !== undefined, `${from.kind} is not converted from ${fromVersion} to ${toVersion}`);
  return convert(object);
};

/** An object as another server kept it: in a version of the same shape where no conversion is known. */
export const convertStored = (
  object: KubernetesObject,
  from: GroupVersionKind,
  to: GroupVersionKind,
): KubernetesObject => {
  const [fromVersion, toVersion] = [apiVersionOf(from), apiVersionOf(to)];
  const convert = CONVERSIONS[`${from.kind} ${fromVersion} ${toVersion}`];
  return convert ? convert(object) : { ...object, apiVersion: toVersion };
};
