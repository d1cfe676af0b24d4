import { storageClassOf } from '../../../api/quota/index.ts';
import { quantityFrom } from '../../../api/quantity/index.ts';
import type { V1PersistentVolumeClaim, V1StorageClass } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { readOrFail, refusal } from '../refusal.ts';

const sizeOf = ({ spec }: V1PersistentVolumeClaim) => quantityFrom(spec?.resources?.requests?.['storage']);

/** A claim grows only where its class can make volumes grow. */
export const persistentVolumeClaimResize = (reader: ObjectReader): AdmissionPlugin => {
  const allowsGrowth = async (
    claim: V1PersistentVolumeClaim,
    old: V1PersistentVolumeClaim,
  ): Promise<boolean> => {
    const name = storageClassOf(claim);
    if (name === '' || name !== storageClassOf(old)) return false;
    const found = await readOrFail(reader.get(STORAGE_CLASSES, '', name));
    return (found as V1StorageClass | undefined)?.allowVolumeExpansion === true;
  };
  return {
    name: 'PersistentVolumeClaimResize',
    handles: handlesOnly('UPDATE'),
    async validate(attributes) {
      if (!isResource(attributes, PERSISTENT_VOLUME_CLAIMS) || attributes.subresource !== '') return;
      const claim = attributes.object as V1PersistentVolumeClaim | undefined;
      const old = attributes.oldObject as V1PersistentVolumeClaim | undefined;
      if (!claim || !old || sizeOf(claim).compare(sizeOf(old)) <= 0) return;
      if (old.status?.phase !== 'Bound')
        throw refusal(attributes, 'Only bound persistent volume claims can be expanded');
      if (!(await allowsGrowth(claim, old)))
        throw refusal(
          attributes,
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
        );
    },
  };
};
