import { claimStrategy, csiDriverStrategy } from './data.ts';
import { formatTime, type KubernetesObject } from '../../../api/meta/index.ts';
import { obj } from '../../../api/validation/read.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';
import { ALL_STATUS_META, type SpecStatusOptions } from './spec-status.ts';

/** Kinds that differ from the rest in a word or two; those with rules of their own have files. */
export interface Row extends SpecStatusOptions {
  readonly own?: Strategy;
}

const SPEC = ['spec'] as const;
const CONDITIONAL: Strategy = { allowUnconditionalUpdate: false };
const CREATES: Strategy = { allowCreateOnUpdate: true };
const ANSWERS: Strategy = { returnsDeletedObject: true };

/** Old kinds whose first clients deleted dependents themselves. */
const ORPHANS: Strategy = { dependents: 'Orphan' };
const JOB_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

/** Anonymous limits are as old as their kind. */
const nameByUid = ({ metadata }: Draft): void => {
  if (metadata && !metadata.name && metadata.uid) metadata.name = metadata.uid;
};

/** Election by the server (CoordinatedLeaderElection) is off in every release: its fields are taken from those alone who have them. */
const dropElection = (draft: Draft): void => keepElection(draft, {});
const keepElection = (draft: Draft, old: KubernetesObject): void => {
  const { strategy, preferredHolder, ...spec } = obj(draft, 'spec') as Record<string, unknown>;
  const before = obj(old, 'spec');
  if (strategy === undefined && preferredHolder === undefined) return;
  draft['spec'] = {
    ...spec,
    ...(strategy !== undefined && before['strategy'] !== undefined && { strategy }),
    ...(preferredHolder !== undefined && before['preferredHolder'] !== undefined && { preferredHolder }),
  };
};

/** By `plural.group`; a kind that is not here has neither status nor generation. */
export const ROWS: Readonly<Record<string, Row | undefined>> = {
  'deployments.apps': {
    hasStatus: true,
    generationOf: SPEC,
    generationOfMeta: ['annotations'],
    statusKeeps: ['labels'],
  },
  'replicasets.apps': { hasStatus: true, generationOf: SPEC },
  'statefulsets.apps': { hasStatus: true, generationOf: SPEC },
  'daemonsets.apps': { hasStatus: true, generationOf: SPEC },
  replicationcontrollers: { hasStatus: true, generationOf: SPEC, own: ORPHANS },
  'jobs.batch': { hasStatus: true, generationOf: SPEC, own: { ...ORPHANS, orphanWarning: JOB_WARNING } },
  'cronjobs.batch': { hasStatus: true, generationOf: SPEC },
  'poddisruptionbudgets.policy': {
    hasStatus: true,
    initialStatus: () => ({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
    generationOf: SPEC,
    own: CONDITIONAL,
  },
  'horizontalpodautoscalers.autoscaling': { hasStatus: true },
  'ingresses.networking.k8s.io': { hasStatus: true, generationOf: SPEC },
  'ingressclasses.networking.k8s.io': { generationOf: SPEC },
  'networkpolicies.networking.k8s.io': { generationOf: SPEC },
  'servicecidrs.networking.k8s.io': { hasStatus: true, statusKeeps: ALL_STATUS_META },
  'endpointslices.discovery.k8s.io': {
    generationOf: ['addressType', 'endpoints', 'ports'],
    generationOfMeta: ['labels'],
  },
  podtemplates: { generationOf: ['template'], own: ANSWERS },
  resourcequotas: { hasStatus: true, own: ANSWERS },
  serviceaccounts: { own: ANSWERS },
  endpoints: { own: CREATES },
  limitranges: { own: { ...CREATES, prepareForCreate: nameByUid } },
  persistentvolumeclaims: {
    hasStatus: true,
    initialStatus: () => ({ phase: 'Pending' }),
    own: claimStrategy,
  },
  persistentvolumes: {
    hasStatus: true,
    initialStatus: (nowMs) => ({ phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) }),
    own: ANSWERS,
  },
  'leases.coordination.k8s.io': {
    own: { ...CREATES, ...CONDITIONAL, prepareForCreate: dropElection, prepareForUpdate: keepElection },
  },
  'runtimeclasses.node.k8s.io': { own: { ...CREATES, ...CONDITIONAL } },
  'priorityclasses.scheduling.k8s.io': { generationOf: [] },
  'customresourcedefinitions.apiextensions.k8s.io': {
    hasStatus: true,
    generationOf: SPEC,
    own: CONDITIONAL,
  },
  'apiservices.apiregistration.k8s.io': { hasStatus: true, own: CONDITIONAL },
  'flowschemas.flowcontrol.apiserver.k8s.io': { hasStatus: true, generationOf: SPEC },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': { hasStatus: true, generationOf: SPEC },
  'mutatingadmissionpolicies.admissionregistration.k8s.io': { generationOf: SPEC, own: CONDITIONAL },
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': { generationOf: SPEC, own: CONDITIONAL },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': {
    generationOf: ['webhooks'],
    own: CONDITIONAL,
  },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': {
    generationOf: ['webhooks'],
    own: CONDITIONAL,
  },
  'validatingadmissionpolicies.admissionregistration.k8s.io': {
    hasStatus: true,
    generationOf: SPEC,
    statusKeeps: ALL_STATUS_META,
    own: CONDITIONAL,
  },
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': { generationOf: SPEC, own: CONDITIONAL },
  'csidrivers.storage.k8s.io': { own: { ...CONDITIONAL, ...ANSWERS, ...csiDriverStrategy } },
  'csinodes.storage.k8s.io': { own: { ...CONDITIONAL, ...ANSWERS } },
  'csistoragecapacities.storage.k8s.io': { own: CONDITIONAL },
  'storageclasses.storage.k8s.io': { own: ANSWERS },
  'volumeattributesclasses.storage.k8s.io': { own: ANSWERS },
  'volumeattachments.storage.k8s.io': {
    hasStatus: true,
    statusKeeps: ALL_STATUS_META,
    own: { ...CONDITIONAL, ...ANSWERS },
  },
  'deviceclasses.resource.k8s.io': { generationOf: SPEC, own: ANSWERS },
  'resourceslices.resource.k8s.io': { generationOf: SPEC, own: ANSWERS },
  'resourceclaims.resource.k8s.io': { hasStatus: true, statusKeeps: ALL_STATUS_META, own: ANSWERS },
  'resourceclaimtemplates.resource.k8s.io': { own: ANSWERS },
};
