import { groupResourceText } from '../../../api/meta/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly } from '../matching.ts';

const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  'volumeattributesclasses.storage.k8s.io': 'kubernetes.io/vac-protection',
};

/** What is in use does not vanish: the protection controllers take the finalizer off when no one uses it. */
export const storageObjectInUseProtection = (): AdmissionPlugin => ({
  name: 'StorageObjectInUseProtection',
  handles: handlesOnly('CREATE'),
  admit({ resource, subresource, object }) {
    const finalizer = FINALIZERS[groupResourceText(resource)];
    if (finalizer === undefined || subresource !== '' || !object) return;
    const metadata = (object.metadata ??= {});
    const finalizers = metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
  },
});
