import { isJsonObject, type KubernetesObject } from '../../../api/meta/index.ts';
import type { ObjectName, PersistentVolumeForGraph } from './node-graph.ts';

type Json = Readonly<Record<string, unknown>>;

const objectAt = (value: Json, field: string): Json => {
  const at = value[field];
  return isJsonObject(at) ? at : {};
};
const textAt = (value: Json, field: string): string => {
  const text = value[field];
  return typeof text === 'string' ? text : '';
};

/** Sources with a secret that the kubelet reads. CSI's controller secrets are not among them. */
const SECRET_REFERENCES: readonly (readonly [source: string, field: string])[] = [
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['flexVolume', 'secretRef'],
  ['rbd', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['iscsi', 'secretRef'],
  ['storageos', 'secretRef'],
  ['csi', 'nodePublishSecretRef'],
  ['csi', 'nodeStageSecretRef'],
  ['csi', 'nodeExpandSecretRef'],
];

export const volumeForGraph = (volume: KubernetesObject): PersistentVolumeForGraph => {
  const spec = objectAt(volume, 'spec');
  const claimRef = objectAt(spec, 'claimRef');
  const claimNamespace = textAt(claimRef, 'namespace');
  const claimName = textAt(claimRef, 'name');
  const azureFile = objectAt(spec, 'azureFile');
  const secrets: ObjectName[] = [
    {
      namespace: textAt(azureFile, 'secretNamespace') || claimNamespace,
      name: textAt(azureFile, 'secretName'),
    },
    ...SECRET_REFERENCES.map(([source, field]) => {
      const reference = objectAt(objectAt(spec, source), field);
      return { namespace: textAt(reference, 'namespace') || claimNamespace, name: textAt(reference, 'name') };
    }),
  ];
  return {
    name: volume.metadata?.name ?? '',
    claim: claimName === '' ? undefined : { namespace: claimNamespace, name: claimName },
    secrets: secrets.filter(({ name }) => name !== ''),
  };
};
