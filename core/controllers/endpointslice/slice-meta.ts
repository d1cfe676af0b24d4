import type { ObjectMeta } from '../../api/meta/index.ts';
import { controllerReference, SERVICE, type Service, type Stored } from '../../client/index.ts';
import { isHeadless } from './service-pods.ts';
import { TRIGGER_TIME_ANNOTATION } from './trigger-times.ts';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
export const MANAGED_BY = 'endpointslice-controller.k8s.io';
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';

const OWN_LABELS: ReadonlySet<string> = new Set([SERVICE_NAME_LABEL, MANAGED_BY_LABEL, HEADLESS_LABEL]);
/** The labels of the service, and those by which a slice is found. */
export const sliceLabels = (service: Stored<Service>): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(service.metadata.labels ?? {}).filter(([name]) => !OWN_LABELS.has(name)),
  ),
  ...(isHeadless(service) && { [HEADLESS_LABEL]: '' }),
  [SERVICE_NAME_LABEL]: service.metadata.name,
  [MANAGED_BY_LABEL]: MANAGED_BY,
});

const SUFFIX_ROOM = 6;
const NAME_LENGTH_MAX = 63;

export const newSliceMeta = (service: Stored<Service>, triggerTime: string | undefined): ObjectMeta => ({
  generateName: `${service.metadata.name.slice(0, NAME_LENGTH_MAX - SUFFIX_ROOM)}-`,
  namespace: service.metadata.namespace ?? '',
  labels: sliceLabels(service),
  ...(triggerTime !== undefined && { annotations: { [TRIGGER_TIME_ANNOTATION]: triggerTime } }),
  ownerReferences: [controllerReference(SERVICE, service)],
});

/** Without a new cause the annotation goes: an old one would be measured again. */
export const withTriggerTime = (
  annotations: Readonly<Record<string, string>> | undefined,
  triggerTime: string | undefined,
): Record<string, string> => {
  const { [TRIGGER_TIME_ANNOTATION]: _, ...others } = annotations ?? {};
  return triggerTime === undefined ? others : { ...others, [TRIGGER_TIME_ANNOTATION]: triggerTime };
};
