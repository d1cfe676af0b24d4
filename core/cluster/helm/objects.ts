import { parseAllDocuments } from 'yaml';
import { isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';

/** The order in which helm installs kinds; the rest comes after, by name. Uninstalling is the reverse. */
const INSTALL_ORDER = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];
const rankOf = ({ kind = '' }: KubernetesObject): number => {
  const at = INSTALL_ORDER.indexOf(kind);
  return at === -1 ? INSTALL_ORDER.length : at;
};

const OBJECTS_MAX = 5000;

/** The objects of a manifest in the order in which they are installed. Documents that are no objects are left out. */
export const objectsOf = (manifest: string): KubernetesObject[] =>
  parseAllDocuments(manifest)
    .slice(0, OBJECTS_MAX)
    .map((document): unknown =>
      'toJS' in document && document.errors.length === 0 ? document.toJS() : undefined,
    )
    .filter(
      (object): object is KubernetesObject => isJsonObject(object) && typeof object['kind'] === 'string',
    )
    .sort((a, b) => rankOf(a) - rankOf(b));

export const identityOf = ({ apiVersion = '', kind = '', metadata }: KubernetesObject): string =>
  [apiVersion.split('/').slice(0, -1).join(), kind, metadata?.namespace ?? '', metadata?.name ?? ''].join(
    '/',
  );

/** Objects that an uninstall or an upgrade leaves alone. */
export const isKept = (object: KubernetesObject): boolean =>
  object.metadata?.annotations?.['helm.sh/resource-policy'] === 'keep';
