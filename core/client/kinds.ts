import type {
  CoreV1Event,
  CoreV1ResourceClaim,
  V1APIService,
  V1CSIDriver,
  V1CSINode,
  V1CSIStorageCapacity,
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1ControllerRevision,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1DeviceClass,
  V1EndpointSlice,
  V1Endpoints,
  V1IPAddress,
  V1Ingress,
  V1IngressClass,
  V1Job,
  V1Lease,
  V1LimitRange,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1PodTemplate,
  V1PriorityClass,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceClaimTemplate,
  V1ResourceQuota,
  V1ResourceSlice,
  V1Role,
  V1RoleBinding,
  V1RuntimeClass,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1ServiceCIDR,
  V1StatefulSet,
  V1StorageClass,
  V1ValidatingWebhookConfiguration,
  V1VolumeAttachment,
  V2HorizontalPodAutoscaler,
} from '../api/schema/index.ts';
import type { KubernetesObject } from '../api/meta/object-meta.ts';
import type { Kind } from './kind.ts';

/** The built-in kinds that components work with, under the names that the API gives them. */
export type Pod = V1Pod;
export type Node = V1Node;
export type Namespace = V1Namespace;
export type Service = V1Service;
export type Endpoints = V1Endpoints;
export type ConfigMap = V1ConfigMap;
export type Secret = V1Secret;
export type ServiceAccount = V1ServiceAccount;
export type PersistentVolume = V1PersistentVolume;
export type PersistentVolumeClaim = V1PersistentVolumeClaim;
export type ReplicationController = V1ReplicationController;
export type PodTemplate = V1PodTemplate;
export type ResourceQuota = V1ResourceQuota;
export type LimitRange = V1LimitRange;
export type Event = CoreV1Event;
export type Deployment = V1Deployment;
export type ReplicaSet = V1ReplicaSet;
export type StatefulSet = V1StatefulSet;
export type DaemonSet = V1DaemonSet;
export type ControllerRevision = V1ControllerRevision;
export type Job = V1Job;
export type CronJob = V1CronJob;
export type HorizontalPodAutoscaler = V2HorizontalPodAutoscaler;
export type PodDisruptionBudget = V1PodDisruptionBudget;
export type EndpointSlice = V1EndpointSlice;
export type Ingress = V1Ingress;
export type IngressClass = V1IngressClass;
export type NetworkPolicy = V1NetworkPolicy;
export type ServiceCIDR = V1ServiceCIDR;
export type IPAddress = V1IPAddress;
export type StorageClass = V1StorageClass;
export type VolumeAttachment = V1VolumeAttachment;
export type CSIDriver = V1CSIDriver;
export type CSINode = V1CSINode;
export type CSIStorageCapacity = V1CSIStorageCapacity;
export type Lease = V1Lease;
export type PriorityClass = V1PriorityClass;
export type RuntimeClass = V1RuntimeClass;
export type CertificateSigningRequest = V1CertificateSigningRequest;
export type Role = V1Role;
export type RoleBinding = V1RoleBinding;
export type ClusterRole = V1ClusterRole;
export type ClusterRoleBinding = V1ClusterRoleBinding;
export type ValidatingWebhookConfiguration = V1ValidatingWebhookConfiguration;
export type MutatingWebhookConfiguration = V1MutatingWebhookConfiguration;
export type CustomResourceDefinition = V1CustomResourceDefinition;
export type APIService = V1APIService;
export type ResourceClaim = CoreV1ResourceClaim;
export type ResourceClaimTemplate = V1ResourceClaimTemplate;
export type ResourceSlice = V1ResourceSlice;
export type DeviceClass = V1DeviceClass;

const define = <T extends KubernetesObject>(
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced: boolean,
): Kind<T> => ({ group, version, kind, plural, namespaced });

export const POD: Kind<Pod> = define('', 'v1', 'Pod', 'pods', true);
export const NODE: Kind<Node> = define('', 'v1', 'Node', 'nodes', false);
export const NAMESPACE: Kind<Namespace> = define('', 'v1', 'Namespace', 'namespaces', false);
export const SERVICE: Kind<Service> = define('', 'v1', 'Service', 'services', true);
export const ENDPOINTS: Kind<Endpoints> = define('', 'v1', 'Endpoints', 'endpoints', true);
export const CONFIG_MAP: Kind<ConfigMap> = define('', 'v1', 'ConfigMap', 'configmaps', true);
export const SECRET: Kind<Secret> = define('', 'v1', 'Secret', 'secrets', true);
export const SERVICE_ACCOUNT: Kind<ServiceAccount> = define(
  '',
  'v1',
  'ServiceAccount',
  'serviceaccounts',
  true,
);
export const PERSISTENT_VOLUME: Kind<PersistentVolume> = define(
  '',
  'v1',
  'PersistentVolume',
  'persistentvolumes',
  false,
);
export const PERSISTENT_VOLUME_CLAIM: Kind<PersistentVolumeClaim> = define(
  '',
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
  true,
);
export const REPLICATION_CONTROLLER: Kind<ReplicationController> = define(
  '',
  'v1',
  'ReplicationController',
  'replicationcontrollers',
  true,
);
export const POD_TEMPLATE: Kind<PodTemplate> = define('', 'v1', 'PodTemplate', 'podtemplates', true);
export const RESOURCE_QUOTA: Kind<ResourceQuota> = define('', 'v1', 'ResourceQuota', 'resourcequotas', true);
export const LIMIT_RANGE: Kind<LimitRange> = define('', 'v1', 'LimitRange', 'limitranges', true);
export const EVENT: Kind<Event> = define('', 'v1', 'Event', 'events', true);
export const DEPLOYMENT: Kind<Deployment> = define('apps', 'v1', 'Deployment', 'deployments', true);
export const REPLICA_SET: Kind<ReplicaSet> = define('apps', 'v1', 'ReplicaSet', 'replicasets', true);
export const STATEFUL_SET: Kind<StatefulSet> = define('apps', 'v1', 'StatefulSet', 'statefulsets', true);
export const DAEMON_SET: Kind<DaemonSet> = define('apps', 'v1', 'DaemonSet', 'daemonsets', true);
export const CONTROLLER_REVISION: Kind<ControllerRevision> = define(
  'apps',
  'v1',
  'ControllerRevision',
  'controllerrevisions',
  true,
);
export const JOB: Kind<Job> = define('batch', 'v1', 'Job', 'jobs', true);
export const CRON_JOB: Kind<CronJob> = define('batch', 'v1', 'CronJob', 'cronjobs', true);
export const HORIZONTAL_POD_AUTOSCALER: Kind<HorizontalPodAutoscaler> = define(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
  true,
);
export const POD_DISRUPTION_BUDGET: Kind<PodDisruptionBudget> = define(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
  true,
);
export const ENDPOINT_SLICE: Kind<EndpointSlice> = define(
  'discovery.k8s.io',
  'v1',
  'EndpointSlice',
  'endpointslices',
  true,
);
export const INGRESS: Kind<Ingress> = define('networking.k8s.io', 'v1', 'Ingress', 'ingresses', true);
export const INGRESS_CLASS: Kind<IngressClass> = define(
  'networking.k8s.io',
  'v1',
  'IngressClass',
  'ingressclasses',
  false,
);
export const NETWORK_POLICY: Kind<NetworkPolicy> = define(
  'networking.k8s.io',
  'v1',
  'NetworkPolicy',
  'networkpolicies',
  true,
);
export const SERVICE_CIDR: Kind<ServiceCIDR> = define(
  'networking.k8s.io',
  'v1',
  'ServiceCIDR',
  'servicecidrs',
  false,
);
export const IP_ADDRESS: Kind<IPAddress> = define(
  'networking.k8s.io',
  'v1',
  'IPAddress',
  'ipaddresses',
  false,
);
export const STORAGE_CLASS: Kind<StorageClass> = define(
  'storage.k8s.io',
  'v1',
  'StorageClass',
  'storageclasses',
  false,
);
export const VOLUME_ATTACHMENT: Kind<VolumeAttachment> = define(
  'storage.k8s.io',
  'v1',
  'VolumeAttachment',
  'volumeattachments',
  false,
);
export const CSI_DRIVER: Kind<CSIDriver> = define('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers', false);
export const CSI_NODE: Kind<CSINode> = define('storage.k8s.io', 'v1', 'CSINode', 'csinodes', false);
export const CSI_STORAGE_CAPACITY: Kind<CSIStorageCapacity> = define(
  'storage.k8s.io',
  'v1',
  'CSIStorageCapacity',
  'csistoragecapacities',
  true,
);
export const LEASE: Kind<Lease> = define('coordination.k8s.io', 'v1', 'Lease', 'leases', true);
export const PRIORITY_CLASS: Kind<PriorityClass> = define(
  'scheduling.k8s.io',
  'v1',
  'PriorityClass',
  'priorityclasses',
  false,
);
export const RUNTIME_CLASS: Kind<RuntimeClass> = define(
  'node.k8s.io',
  'v1',
  'RuntimeClass',
  'runtimeclasses',
  false,
);
export const CERTIFICATE_SIGNING_REQUEST: Kind<CertificateSigningRequest> = define(
  'certificates.k8s.io',
  'v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
  false,
);
export const ROLE: Kind<Role> = define('rbac.authorization.k8s.io', 'v1', 'Role', 'roles', true);
export const ROLE_BINDING: Kind<RoleBinding> = define(
  'rbac.authorization.k8s.io',
  'v1',
  'RoleBinding',
  'rolebindings',
  true,
);
export const CLUSTER_ROLE: Kind<ClusterRole> = define(
  'rbac.authorization.k8s.io',
  'v1',
  'ClusterRole',
  'clusterroles',
  false,
);
export const CLUSTER_ROLE_BINDING: Kind<ClusterRoleBinding> = define(
  'rbac.authorization.k8s.io',
  'v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  false,
);
export const VALIDATING_WEBHOOK_CONFIGURATION: Kind<ValidatingWebhookConfiguration> = define(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  false,
);
export const MUTATING_WEBHOOK_CONFIGURATION: Kind<MutatingWebhookConfiguration> = define(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  false,
);
export const CUSTOM_RESOURCE_DEFINITION: Kind<CustomResourceDefinition> = define(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
);
export const API_SERVICE: Kind<APIService> = define(
  'apiregistration.k8s.io',
  'v1',
  'APIService',
  'apiservices',
  false,
);
export const RESOURCE_CLAIM: Kind<ResourceClaim> = define(
  'resource.k8s.io',
  'v1',
  'ResourceClaim',
  'resourceclaims',
  true,
);
export const RESOURCE_CLAIM_TEMPLATE: Kind<ResourceClaimTemplate> = define(
  'resource.k8s.io',
  'v1',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
  true,
);
export const RESOURCE_SLICE: Kind<ResourceSlice> = define(
  'resource.k8s.io',
  'v1',
  'ResourceSlice',
  'resourceslices',
  false,
);
export const DEVICE_CLASS: Kind<DeviceClass> = define(
  'resource.k8s.io',
  'v1',
  'DeviceClass',
  'deviceclasses',
  false,
);
