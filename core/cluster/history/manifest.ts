import { isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';
import { say, type Said } from '../../contract/index.ts';
import type { Place } from './place.ts';

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});

const without = (fields: unknown, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(fields)).filter(([name]) => !names.includes(name)));

/** Set by the server for one life of an object; a recreated one gets its own. */
const METADATA_OF_ONE_LIFE = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];
const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'];

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
}

export const ownersOf = (object: KubernetesObject): readonly Owner[] => {
  const found: unknown = object.metadata?.ownerReferences;
  return (Array.isArray(found) ? found : []).filter(isJsonObject).map((owner) => ({
    apiVersion: String(owner['apiVersion'] ?? ''),
    kind: String(owner['kind'] ?? ''),
    name: String(owner['name'] ?? ''),
    uid: String(owner['uid'] ?? ''),
    controller: owner['controller'] === true,
  }));
};

/** A Job's selector is generated from its UID, which a recreated one does not have. */
const jobSpec = (spec: Fields): Fields => {
  if (spec['manualSelector'] === true) return spec;
  const template = fieldsOf(spec['template']);
  const metadata = fieldsOf(template['metadata']);
  const labels = without(metadata['labels'], UID_LABELS);
  return { ...without(spec, ['selector']), template: { ...template, metadata: { ...metadata, labels } } };
};

/** A volume that names the UID of a deleted claim stays released. */
const volumeSpec = (spec: Fields): Fields => ({
  ...spec,
  ...(isJsonObject(spec['claimRef']) && { claimRef: without(spec['claimRef'], ['uid', 'resourceVersion']) }),
});

export interface Manifest {
  readonly object: KubernetesObject;
  readonly warnings: readonly Said[];
}

/**
 * A stored object as a request that creates it: without what the server sets, and without owners, which the caller
 * resolves first. Its status is not restored; controllers write it again.
 */
export const manifestOf = (stored: KubernetesObject): Manifest => {
  const { status: _status, metadata = {}, ...rest } = stored as Fields & KubernetesObject;
  const warnings: Said[] = [];
  const spec = fieldsOf((stored as Fields)['spec']);
  const { kind = '' } = stored;
  const changed: Fields = {};
  if (kind === 'Pod') {
    changed['spec'] = without(spec, ['nodeName']);
    if (spec['nodeName'] !== undefined) warnings.push(say('history.warn.rescheduled'));
  }
  if (kind === 'Job') changed['spec'] = jobSpec(spec);
  if (kind === 'PersistentVolume') changed['spec'] = volumeSpec(spec);
  if (kind === 'PersistentVolumeClaim' && spec['volumeName'] !== undefined)
    warnings.push(say('history.warn.volume', { volume: String(spec['volumeName']) }));
  if ((stored as Fields)['type'] === 'kubernetes.io/service-account-token')
    warnings.push(say('history.warn.token'));
  return {
    object: {
      ...rest,
      metadata: without(metadata, [...METADATA_OF_ONE_LIFE, 'ownerReferences']),
      ...changed,
    },
    warnings,
  };
};

/** Written by components all the time, or made by the server itself: not part of what people want back. */
const NEVER = new Set([
  '/events',
  'events.k8s.io/events',
  'coordination.k8s.io/leases',
  '/nodes',
  '/endpoints',
  'certificates.k8s.io/certificatesigningrequests',
  '/bindings',
  'networking.k8s.io/ipaddresses',
  'storage.k8s.io/csinodes',
]);

/** Of a namespace or of everything: what is left to those who maintain it. */
export const isLeftOut = ({ group, plural }: Place): boolean => NEVER.has(`${group}/${plural}`);

/** What others need comes first. */
const ORDER = [
  '/namespaces',
  'apiextensions.k8s.io/customresourcedefinitions',
  'scheduling.k8s.io/priorityclasses',
  'storage.k8s.io/storageclasses',
  '/resourcequotas',
  '/limitranges',
  '/serviceaccounts',
  '/secrets',
  '/configmaps',
  '/persistentvolumes',
  '/persistentvolumeclaims',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/roles',
  'rbac.authorization.k8s.io/rolebindings',
  '/services',
  'apps/deployments',
  'apps/statefulsets',
  'apps/daemonsets',
  'batch/cronjobs',
  'batch/jobs',
  'apps/replicasets',
  '/pods',
];
/** Guards come last: a webhook without its pods would deny what follows. */
const LAST = new Set([
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiregistration.k8s.io/apiservices',
]);

export const rankOf = ({ group, plural }: Place): number => {
  const name = `${group}/${plural}`;
  if (LAST.has(name)) return ORDER.length + 1;
  const at = ORDER.indexOf(name);
  return at === -1 ? ORDER.length : at;
};
