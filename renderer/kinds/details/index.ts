import { textAt, type KubeObject } from '../kube-object.ts';
import { bindingSections, roleSections, serviceAccountSections } from './access.ts';
import { isBuiltInGroup } from '../categories.ts';
import { customSections } from './custom.ts';
import { customDefinitionSections, quotaSections } from './definitions.ts';
import { endpointSliceSections, ingressSections, networkPolicySections, serviceSections } from './network.ts';
import { nodeSections } from './nodes.ts';
import { autoscalerSections, disruptionSections } from './scaling.ts';
import type { Related, Section } from './section.ts';
import { claimSections, storageClassSections, volumeSections } from './storage.ts';
import { cronJobSections, jobSections, podSections, scaledSections } from './workloads.ts';

type Sections = (object: KubeObject, related: Related) => readonly Section[];

/** By kind and group; a built-in kind that is not here shows what every object has, a custom one its fields. */
const KINDS: Readonly<Record<string, Sections>> = {
  'Pod.': podSections,
  'ReplicationController.': scaledSections,
  'Deployment.apps': scaledSections,
  'StatefulSet.apps': scaledSections,
  'DaemonSet.apps': scaledSections,
  'ReplicaSet.apps': scaledSections,
  'Job.batch': jobSections,
  'CronJob.batch': cronJobSections,
  'HorizontalPodAutoscaler.autoscaling': autoscalerSections,
  'PodDisruptionBudget.policy': disruptionSections,
  'Service.': serviceSections,
  'EndpointSlice.discovery.k8s.io': endpointSliceSections,
  'Ingress.networking.k8s.io': ingressSections,
  'NetworkPolicy.networking.k8s.io': networkPolicySections,
  'Node.': nodeSections,
  'PersistentVolumeClaim.': claimSections,
  'PersistentVolume.': volumeSections,
  'StorageClass.storage.k8s.io': storageClassSections,
  'ResourceQuota.': quotaSections,
  'ServiceAccount.': serviceAccountSections,
  'Role.rbac.authorization.k8s.io': roleSections,
  'ClusterRole.rbac.authorization.k8s.io': roleSections,
  'RoleBinding.rbac.authorization.k8s.io': bindingSections,
  'ClusterRoleBinding.rbac.authorization.k8s.io': bindingSections,
  'CustomResourceDefinition.apiextensions.k8s.io': customDefinitionSections,
};

export const sectionsOf = (object: KubeObject, related: Related = {}): readonly Section[] => {
  const apiVersion = textAt(object, 'apiVersion');
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const own = KINDS[`${textAt(object, 'kind')}.${group}`];
  if (own) return own(object, related);
  return isBuiltInGroup(group) ? [] : customSections(object);
};

export { probeKinds } from './section.ts';
export type { Block, Cell, Fact, ObjectLink, ProbeFailure, ProbeKind, Related, Section } from './section.ts';
