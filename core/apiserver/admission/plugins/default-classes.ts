import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Ingress, V1PersistentVolumeClaim } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';

const INGRESSES = { group: 'networking.k8s.io', resource: 'ingresses' };
const INGRESS_CLASSES = { group: 'networking.k8s.io', resource: 'ingressclasses' };
const DEFAULT_STORAGE_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];
const DEFAULT_INGRESS_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];
const CLAIM_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const INGRESS_CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** Of several that are marked the newest; of those of one second the first by name. */
const defaultOf = (
  classes: readonly KubernetesObject[],
  annotations: readonly string[],
): string | undefined => {
  const marked = classes.filter(({ metadata }) =>
    annotations.some((annotation) => metadata?.annotations?.[annotation] === 'true'),
  );
  const madeAt = ({ metadata }: KubernetesObject): string => metadata?.creationTimestamp ?? '';
  const [first] = marked.sort((a, b) => {
    if (madeAt(a) !== madeAt(b)) return madeAt(a) > madeAt(b) ? -1 : 1;
    return (a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1;
  });
  return first?.metadata?.name;
};

/** A claim that asks for no class gets the default one; one that asks for `""` gets none. */
export const defaultStorageClass = (reader: ObjectReader): AdmissionPlugin => ({
  name: 'DefaultStorageClass',
  handles: handlesOnly('CREATE'),
  async admit(attributes) {
    if (!isResource(attributes, PERSISTENT_VOLUME_CLAIMS) || attributes.subresource !== '') return;
    const claim = attributes.object as V1PersistentVolumeClaim;
    if (claim.metadata?.annotations?.[CLAIM_CLASS_ANNOTATION] !== undefined) return;
    if (claim.spec?.storageClassName !== undefined) return;
    const name = defaultOf(await reader.list(STORAGE_CLASSES, ''), DEFAULT_STORAGE_ANNOTATIONS);
    if (name !== undefined) (claim.spec ??= {}).storageClassName = name;
  },
});

export const defaultIngressClass = (reader: ObjectReader): AdmissionPlugin => ({
  name: 'DefaultIngressClass',
  handles: handlesOnly('CREATE'),
  async admit(attributes) {
    if (!isResource(attributes, INGRESSES) || attributes.subresource !== '') return;
    const ingress = attributes.object as V1Ingress;
    if (ingress.spec?.ingressClassName !== undefined) return;
    if (ingress.metadata?.annotations?.[INGRESS_CLASS_ANNOTATION] !== undefined) return;
    const name = defaultOf(await reader.list(INGRESS_CLASSES, ''), DEFAULT_INGRESS_ANNOTATIONS);
    if (name !== undefined) (ingress.spec ??= {}).ingressClassName = name;
  },
});
