import type { GroupVersion, KubernetesObject } from '../../api/meta/index.ts';
import { sameValue } from '../../api/validation/read.ts';
import { OWN_GROUP } from './api-service.ts';

/** Upstream's label of the APIServices that servers keep for what they serve themselves. */
export const AUTOMANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';

/** `onstart`: written once by a server that starts. `true`: for as long as it runs. */
export type Management = 'onstart' | 'true';

/** A group version that this server answers itself. */
export interface LocalGroupVersion extends GroupVersion {
  readonly groupPriority: number;
  /** Not built in: a custom resource. */
  readonly isCustom: boolean;
}

/** Upstream's priorities within a group; a stable version has 15 and another one 9 where nothing is said here. */
const VERSION_PRIORITIES: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'resource.k8s.io/v1': 21,
  'resource.k8s.io/v1beta2': 15,
  'admissionregistration.k8s.io/v1beta1': 12,
  'coordination.k8s.io/v1beta1': 13,
  'coordination.k8s.io/v1alpha2': 12,
};
const STABLE_PRIORITY = 15;
const UNSTABLE_PRIORITY = 9;
/** Of custom resources: below every built-in group. */
const CUSTOM_GROUP_PRIORITY = 1000;
const CUSTOM_VERSION_PRIORITY = 100;

export const versionPriorityOf = ({ group, version }: GroupVersion): number =>
  VERSION_PRIORITIES[`${group}/${version}`] ?? (/^v\d+$/.test(version) ? STABLE_PRIORITY : UNSTABLE_PRIORITY);

/** The APIServices that stand for what this server serves itself, by name. */
export const localApiServices = (
  served: readonly LocalGroupVersion[],
): ReadonlyMap<string, KubernetesObject> => {
  const wanted = new Map<string, KubernetesObject>();
  for (const { group, version, groupPriority, isCustom } of served) {
    if (group === OWN_GROUP) continue;
    const management: Management = isCustom ? 'true' : 'onstart';
    const name = `${version}.${group}`;
    wanted.set(name, {
      apiVersion: `${OWN_GROUP}/v1`,
      kind: 'APIService',
      metadata: { name, labels: { [AUTOMANAGED_LABEL]: management } },
      spec: {
        ...(group !== '' && { group }),
        version,
        groupPriorityMinimum: isCustom ? CUSTOM_GROUP_PRIORITY : groupPriority,
        versionPriority: isCustom ? CUSTOM_VERSION_PRIORITY : versionPriorityOf({ group, version }),
      },
    });
  }
  return wanted;
};

export const managementOf = (object: KubernetesObject | undefined): Management | undefined => {
  const value = object?.metadata?.labels?.[AUTOMANAGED_LABEL];
  return value === 'onstart' || value === 'true' ? value : undefined;
};

export interface RegistrationState {
  readonly desired: KubernetesObject | undefined;
  readonly current: KubernetesObject | undefined;
  /** Whether this server has seen to the name since it started. */
  readonly hasSynced: boolean;
  /** Whether the object was there when this server started. */
  readonly wasThereAtStart: boolean;
}

/** What a server does about one name. Upstream's table: objects that people made or changed are left alone. */
export const registrationStep = (state: RegistrationState): 'none' | 'create' | 'update' | 'delete' => {
  const { desired, current, hasSynced, wasThereAtStart } = state;
  if (managementOf(desired) === 'onstart' && hasSynced) return 'none';
  if (current === undefined) return desired === undefined ? 'none' : 'create';
  const managed = managementOf(current);
  if (managed === undefined) return 'none';
  if (managed === 'onstart' && (!wasThereAtStart || hasSynced)) return 'none';
  if (desired === undefined) return 'delete';
  return sameValue(current['spec'], desired['spec']) ? 'none' : 'update';
};
