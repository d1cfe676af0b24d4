import type { V1PersistentVolumeClaim, V1Volume } from '../../api/schema/index.ts';
import {
  controllerReference,
  STATEFUL_SET,
  type Pod,
  type StatefulSet,
  type Stored,
} from '../../client/index.ts';
import { podFromTemplate } from '../workloads/pod-control.ts';

export const REVISION_LABEL = 'controller-revision-hash';
const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';
const POD_NAME = /^(.*)-([0-9]+)$/;
const INT32_MAX = 2 ** 31 - 1;

export type StoredSet = Stored<StatefulSet>;
/** The set as it was at another revision: of that only the template and the claims matter. */
export type SetSpec = NonNullable<StatefulSet['spec']>;

export const replicasOf = (set: StatefulSet): number => set.spec?.replicas ?? 1;
export const startOrdinalOf = (set: StatefulSet): number => set.spec?.ordinals?.start ?? 0;
export const podNameOf = (set: StoredSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`;
export const revisionOf = (pod: Pod): string => pod.metadata?.labels?.[REVISION_LABEL] ?? '';

const parse = (pod: Pod): { readonly parent: string; readonly ordinal: number } | undefined => {
  const match = POD_NAME.exec(pod.metadata?.name ?? '');
  const ordinal = Number(match?.[2]);
  return match && ordinal <= INT32_MAX ? { parent: match[1]!, ordinal } : undefined;
};

/** -1 when the name has none. */
export const ordinalOf = (pod: Pod): number => parse(pod)?.ordinal ?? -1;
export const isMemberOf = (set: StoredSet, pod: Pod): boolean => parse(pod)?.parent === set.metadata.name;

export const isInRange = (set: StatefulSet, pod: Pod): boolean => {
  const place = ordinalOf(pod) - startOrdinalOf(set);
  return ordinalOf(pod) >= 0 && place >= 0 && place < replicasOf(set);
};

export const claimNameOf = (set: StoredSet, template: V1PersistentVolumeClaim, ordinal: number): string =>
  `${template.metadata?.name}-${set.metadata.name}-${ordinal}`;

export const identityMatches = (set: StoredSet, pod: Pod): boolean =>
  isMemberOf(set, pod) && pod.metadata?.labels?.[POD_NAME_LABEL] === pod.metadata?.name;

export const storageMatches = (set: StoredSet, pod: Pod): boolean =>
  (set.spec?.volumeClaimTemplates ?? []).every((template) =>
    pod.spec?.volumes?.some(
      (volume) =>
        volume.name === template.metadata?.name &&
        volume.persistentVolumeClaim?.claimName === claimNameOf(set, template, ordinalOf(pod)),
    ),
  );

const volumesWithClaims = (set: StoredSet, volumes: readonly V1Volume[], ordinal: number): V1Volume[] => {
  const templates = set.spec?.volumeClaimTemplates ?? [];
  const names = new Set(templates.map(({ metadata }) => metadata?.name));
  return [
    ...templates.map((template) => ({
      name: template.metadata?.name ?? '',
      persistentVolumeClaim: { claimName: claimNameOf(set, template, ordinal) },
    })),
    ...volumes.filter(({ name }) => !names.has(name)),
  ];
};

/** The pod with the labels and claims of its place. */
export const withIdentity = <P extends Pod>(set: StoredSet, pod: P, ordinal: number): P => {
  const name = podNameOf(set, ordinal);
  const labels = {
    ...pod.metadata?.labels,
    [POD_NAME_LABEL]: name,
    [POD_INDEX_LABEL]: String(ordinal),
  };
  const volumes = volumesWithClaims(set, pod.spec?.volumes ?? [], ordinal);
  return {
    ...pod,
    metadata: { ...pod.metadata, name, labels },
    spec: { ...pod.spec!, ...(volumes.length > 0 && { volumes }) },
  };
};

/** The pod of a place, at a revision. */
export const newPod = (
  set: StoredSet,
  options: { readonly ordinal: number; readonly spec: SetSpec; readonly revision: string },
): Pod => {
  const { ordinal, spec, revision } = options;
  const { generateName: _, ...metadata } = podFromTemplate(
    spec.template,
    set.metadata.name,
    controllerReference(STATEFUL_SET, set),
  ).metadata!;
  const { serviceName } = set.spec ?? {};
  const pod: Pod = {
    metadata: { ...metadata, labels: { ...metadata.labels, [REVISION_LABEL]: revision } },
    spec: {
      ...structuredClone(spec.template.spec!),
      hostname: podNameOf(set, ordinal),
      ...(serviceName && { subdomain: serviceName }),
    },
  };
  return withIdentity(set, pod, ordinal);
};
