import type { GroupKind } from '../meta/group-version.ts';
import { groupKindText } from '../meta/group-version.ts';
import { invalid as invalidStatus } from '../meta/status-errors.ts';
import type { StatusError } from '../meta/status.ts';
import type { Release } from '../releases/release.ts';
import type { FieldErrorList } from '../field/field-error.ts';
import { causesOf } from '../field/field-error.ts';
import type { MetaRules } from './object-meta.ts';
import { objectMeta, objectMetaUpdate } from './object-meta.ts';
import { IPAddressRules, ServiceCIDRRules } from './kinds/addresses.ts';
import {
  MutatingAdmissionPolicyBindingRules,
  MutatingAdmissionPolicyRules,
  ValidatingAdmissionPolicyBindingRules,
  ValidatingAdmissionPolicyRules,
} from './kinds/admission-policies.ts';
import { APIServiceRules } from './kinds/api-service.ts';
import { HorizontalPodAutoscalerRules, PodDisruptionBudgetRules } from './kinds/autoscaling.ts';
import { CronJobRules, JobRules } from './kinds/batch.ts';
import { LimitRangeRules, NamespaceRules, NodeRules } from './kinds/cluster.ts';
import { ConfigMapRules, SecretRules, ServiceAccountRules } from './kinds/config.ts';
import {
  CertificateSigningRequestRules,
  LeaseRules,
  PriorityClassRules,
  RuntimeClassRules,
} from './kinds/control.ts';
import {
  CSIDriverRules,
  CSINodeRules,
  CSIStorageCapacityRules,
  VolumeAttachmentRules,
  VolumeAttributesClassRules,
} from './kinds/csi.ts';
import { CustomResourceDefinitionRules } from './kinds/custom-resource-definition.ts';
import { EndpointSliceRules, EndpointsRules } from './kinds/endpoints.ts';
import { FlowSchemaRules, PriorityLevelConfigurationRules } from './kinds/flow-control.ts';
import { IngressClassRules, IngressRules, NetworkPolicyRules } from './kinds/networking.ts';
import { PodRules, PodTemplateRules } from './kinds/pod.ts';
import { ClusterRoleBindingRules, ClusterRoleRules, RoleBindingRules, RoleRules } from './kinds/rbac.ts';
import { DeviceClassRules, ResourceClaimRules, ResourceClaimTemplateRules } from './kinds/resource-claims.ts';
import { ResourceQuotaRules } from './kinds/resource-quota.ts';
import { ResourceSliceRules } from './kinds/resource-slices.ts';
import { ServiceRules } from './kinds/service.ts';
import { PersistentVolumeClaimRules, PersistentVolumeRules, StorageClassRules } from './kinds/storage.ts';
import { MutatingWebhookConfigurationRules, ValidatingWebhookConfigurationRules } from './kinds/webhooks.ts';
import {
  ControllerRevisionRules,
  DaemonSetRules,
  DeploymentRules,
  ReplicaSetRules,
  ReplicationControllerRules,
  StatefulSetRules,
} from './kinds/workloads.ts';
import type { Obj } from './read.ts';
import { obj, str } from './read.ts';
import type { KindRules } from './rules.ts';

/** By group and kind: rules do not depend on the version, since versions of a built-in kind differ in spelling only. */
const RULES: ReadonlyMap<string, KindRules> = new Map(
  Object.entries({
    Pod: PodRules,
    PodTemplate: PodTemplateRules,
    ReplicationController: ReplicationControllerRules,
    Service: ServiceRules,
    Endpoints: EndpointsRules,
    ConfigMap: ConfigMapRules,
    Secret: SecretRules,
    ServiceAccount: ServiceAccountRules,
    Namespace: NamespaceRules,
    Node: NodeRules,
    LimitRange: LimitRangeRules,
    ResourceQuota: ResourceQuotaRules,
    PersistentVolume: PersistentVolumeRules,
    PersistentVolumeClaim: PersistentVolumeClaimRules,
    'Deployment.apps': DeploymentRules,
    'ReplicaSet.apps': ReplicaSetRules,
    'StatefulSet.apps': StatefulSetRules,
    'DaemonSet.apps': DaemonSetRules,
    'ControllerRevision.apps': ControllerRevisionRules,
    'Job.batch': JobRules,
    'CronJob.batch': CronJobRules,
    'Ingress.networking.k8s.io': IngressRules,
    'IngressClass.networking.k8s.io': IngressClassRules,
    'NetworkPolicy.networking.k8s.io': NetworkPolicyRules,
    'PodDisruptionBudget.policy': PodDisruptionBudgetRules,
    'HorizontalPodAutoscaler.autoscaling': HorizontalPodAutoscalerRules,
    'Role.rbac.authorization.k8s.io': RoleRules,
    'ClusterRole.rbac.authorization.k8s.io': ClusterRoleRules,
    'RoleBinding.rbac.authorization.k8s.io': RoleBindingRules,
    'ClusterRoleBinding.rbac.authorization.k8s.io': ClusterRoleBindingRules,
    'StorageClass.storage.k8s.io': StorageClassRules,
    'PriorityClass.scheduling.k8s.io': PriorityClassRules,
    'RuntimeClass.node.k8s.io': RuntimeClassRules,
    'Lease.coordination.k8s.io': LeaseRules,
    'EndpointSlice.discovery.k8s.io': EndpointSliceRules,
    'CertificateSigningRequest.certificates.k8s.io': CertificateSigningRequestRules,
    'MutatingWebhookConfiguration.admissionregistration.k8s.io': MutatingWebhookConfigurationRules,
    'ValidatingWebhookConfiguration.admissionregistration.k8s.io': ValidatingWebhookConfigurationRules,
    'MutatingAdmissionPolicy.admissionregistration.k8s.io': MutatingAdmissionPolicyRules,
    'MutatingAdmissionPolicyBinding.admissionregistration.k8s.io': MutatingAdmissionPolicyBindingRules,
    'ValidatingAdmissionPolicy.admissionregistration.k8s.io': ValidatingAdmissionPolicyRules,
    'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': ValidatingAdmissionPolicyBindingRules,
    'APIService.apiregistration.k8s.io': APIServiceRules,
    'CustomResourceDefinition.apiextensions.k8s.io': CustomResourceDefinitionRules,
    'CSIDriver.storage.k8s.io': CSIDriverRules,
    'CSINode.storage.k8s.io': CSINodeRules,
    'CSIStorageCapacity.storage.k8s.io': CSIStorageCapacityRules,
    'VolumeAttachment.storage.k8s.io': VolumeAttachmentRules,
    'VolumeAttributesClass.storage.k8s.io': VolumeAttributesClassRules,
    'IPAddress.networking.k8s.io': IPAddressRules,
    'ServiceCIDR.networking.k8s.io': ServiceCIDRRules,
    'DeviceClass.resource.k8s.io': DeviceClassRules,
    'ResourceClaim.resource.k8s.io': ResourceClaimRules,
    'ResourceClaimTemplate.resource.k8s.io': ResourceClaimTemplateRules,
    'ResourceSlice.resource.k8s.io': ResourceSliceRules,
    'FlowSchema.flowcontrol.apiserver.k8s.io': FlowSchemaRules,
    'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': PriorityLevelConfigurationRules,
  } satisfies Record<string, KindRules>),
);

export const rulesOf = (kind: GroupKind): KindRules | undefined => RULES.get(groupKindText(kind));

/** Kinds without rules of their own have their metadata checked, by the rules the caller knows for them. */
export const validateCreate = (
  kind: GroupKind,
  object: Obj,
  fallback: MetaRules,
  release?: Release,
): FieldErrorList => rulesOf(kind)?.create(object, release) ?? objectMeta(object, fallback);

export function validateUpdate(kind: GroupKind, object: Obj, before: Obj, subresource = ''): FieldErrorList {
  const rules = rulesOf(kind);
  const check = subresource === '' ? rules?.update : rules?.subresources?.[subresource];
  return check?.(object, before) ?? objectMetaUpdate(object, before);
}

/** The 422 that answers a request whose object is wrong; undefined when nothing is. */
export function statusOf(kind: GroupKind, object: Obj, errors: FieldErrorList): StatusError | undefined {
  if (errors.length === 0) return undefined;
  return invalidStatus(kind, str(obj(object, 'metadata'), 'name'), causesOf(errors));
}
