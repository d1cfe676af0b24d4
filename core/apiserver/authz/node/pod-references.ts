import { isJsonObject, type KubernetesObject } from '../../../api/meta/index.ts';
import type { ObjectName, ReferencedKind } from './node-graph.ts';

type Json = Readonly<Record<string, unknown>>;

export interface PodForGraph extends ObjectName {
  readonly nodeName: string;
  readonly isMirror: boolean;
  readonly spec: Json;
  readonly status: Json;
}

export interface Reference extends ObjectName {
  readonly kind: ReferencedKind;
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

const objectAt = (value: unknown, ...path: readonly string[]): Json => {
  let at: unknown = value;
  for (const field of path) at = isJsonObject(at) ? at[field] : undefined;
  return isJsonObject(at) ? at : {};
};
const listAt = (value: Json, field: string): Json[] => {
  const list = value[field];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
};
const textAt = (value: Json, field: string): string => {
  const text = value[field];
  return typeof text === 'string' ? text : '';
};

export const podForGraph = (pod: KubernetesObject): PodForGraph => {
  const spec = objectAt(pod, 'spec');
  return {
    namespace: pod.metadata?.namespace ?? '',
    name: pod.metadata?.name ?? '',
    nodeName: textAt(spec, 'nodeName'),
    isMirror: pod.metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined,
    spec,
    status: objectAt(pod, 'status'),
  };
};

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'];
/** Volume sources that name a secret by a reference, and the field that does. */
const SECRET_REFERENCES: readonly (readonly [source: string, field: string])[] = [
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['flexVolume', 'secretRef'],
  ['rbd', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['iscsi', 'secretRef'],
  ['storageos', 'secretRef'],
  ['csi', 'nodePublishSecretRef'],
];

const ofContainer = (container: Json): [ReferencedKind, string][] => [
  ...listAt(container, 'envFrom').flatMap((source): [ReferencedKind, string][] => [
    ['secret', textAt(objectAt(source, 'secretRef'), 'name')],
    ['configmap', textAt(objectAt(source, 'configMapRef'), 'name')],
  ]),
  ...listAt(container, 'env').flatMap((variable): [ReferencedKind, string][] => [
    ['secret', textAt(objectAt(variable, 'valueFrom', 'secretKeyRef'), 'name')],
    ['configmap', textAt(objectAt(variable, 'valueFrom', 'configMapKeyRef'), 'name')],
  ]),
];

const ofVolume = (volume: Json, podName: string): [ReferencedKind, string][] => [
  ['secret', textAt(objectAt(volume, 'secret'), 'secretName')],
  ['secret', textAt(objectAt(volume, 'azureFile'), 'secretName')],
  ...SECRET_REFERENCES.map(([source, field]): [ReferencedKind, string] => [
    'secret',
    textAt(objectAt(volume, source, field), 'name'),
  ]),
  ...listAt(objectAt(volume, 'projected'), 'sources').flatMap((source): [ReferencedKind, string][] => [
    ['secret', textAt(objectAt(source, 'secret'), 'name')],
    ['configmap', textAt(objectAt(source, 'configMap'), 'name')],
  ]),
  ['configmap', textAt(objectAt(volume, 'configMap'), 'name')],
  ['pvc', textAt(objectAt(volume, 'persistentVolumeClaim'), 'claimName')],
  // The claim of an ephemeral volume is named after pod and volume.
  ['pvc', volume['ephemeral'] ? `${podName}-${textAt(volume, 'name')}` : ''],
];

const ofResourceClaims = ({ spec, status }: PodForGraph): [ReferencedKind, string][] => {
  const made = listAt(status, 'resourceClaimStatuses');
  const named = listAt(spec, 'resourceClaims').map((claim): [ReferencedKind, string] => {
    const direct = textAt(claim, 'resourceClaimName');
    const generated = made.find((one) => textAt(one, 'name') === textAt(claim, 'name')) ?? {};
    return ['resourceclaim', direct || textAt(generated, 'resourceClaimName')];
  });
  return [
    ...named,
    ['resourceclaim', textAt(objectAt(status, 'extendedResourceClaimStatus'), 'resourceClaimName')],
  ];
};

/** What a kubelet must read to run the pod. A mirror pod earns it nothing: the kubelet itself made it. */
export const referencesOfPod = (pod: PodForGraph): Reference[] => {
  if (pod.isMirror) return [];
  const { spec, namespace } = pod;
  const found: [ReferencedKind, string][] = [
    ['serviceaccount', textAt(spec, 'serviceAccountName')],
    ...listAt(spec, 'imagePullSecrets').map((secret): [ReferencedKind, string] => [
      'secret',
      textAt(secret, 'name'),
    ]),
    ...CONTAINER_LISTS.flatMap((list) => listAt(spec, list)).flatMap(ofContainer),
    ...listAt(spec, 'volumes').flatMap((volume) => ofVolume(volume, pod.name)),
    ...ofResourceClaims(pod),
  ];
  return found.filter(([, name]) => name !== '').map(([kind, name]) => ({ kind, namespace, name }));
};
