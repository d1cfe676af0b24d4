import { notFound } from '../../../api/meta/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, NAMESPACES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { readOrFail } from '../refusal.ts';

/** Every write, also of what exists, needs a namespace that exists. */
export const namespaceExists = (reader: ObjectReader): AdmissionPlugin => ({
  name: 'NamespaceExists',
  handles: handlesOnly('CREATE', 'UPDATE', 'DELETE'),
  async validate({ namespace, kind }) {
    if (namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return;
    const found =
      (await readOrFail(reader.get(NAMESPACES, '', namespace))) ??
      (await readOrFail(reader.get(NAMESPACES, '', namespace, { live: true })));
    if (!found) throw notFound(NAMESPACES, namespace);
  },
});
