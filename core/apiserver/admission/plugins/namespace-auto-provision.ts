import { messageOf } from '../../../base/errors.ts';
import { isAlreadyExists } from '../../../api/meta/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, NAMESPACES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { refusal } from '../refusal.ts';

/** Creates a namespace of this name. */
export type CreateNamespace = (name: string) => Promise<void>;

/** Whatever is created brings the namespace that it is in. */
export const namespaceAutoProvision = (reader: ObjectReader, create: CreateNamespace): AdmissionPlugin => ({
  name: 'NamespaceAutoProvision',
  handles: handlesOnly('CREATE'),
  async admit(attributes) {
    const { namespace, kind, isDryRun } = attributes;
    if (isDryRun || namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return;
    try {
      if (await reader.get(NAMESPACES, '', namespace)) return;
      await create(namespace);
    } catch (error) {
      if (!isAlreadyExists(error)) throw refusal(attributes, messageOf(error));
    }
  },
});
