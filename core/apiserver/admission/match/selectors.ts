import { internalError, notFound, StatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import {
  selectorFromObject,
  type LabelSelector,
  type LabelSelectorObject,
} from '../../../api/selector/index.ts';
import { messageOf } from '../../../base/errors.ts';
import type { AdmissionAttributes } from '../attributes.ts';
import { NAMESPACES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';

/** A selector of a stored configuration. One that cannot be read fails the requests it might be about. */
export type ParsedSelector = LabelSelector | StatusError;

export const parseSelector = (selector: unknown): ParsedSelector => {
  try {
    return selectorFromObject(selector as LabelSelectorObject | undefined);
  } catch (error) {
    return internalError(messageOf(error), error);
  }
};

/** The namespace of a request: from the cache, and where it is missing there from etcd. */
export const readNamespace = async (
  reader: ObjectReader,
  name: string,
): Promise<KubernetesObject | undefined> =>
  (await reader.get(NAMESPACES, '', name)) ?? reader.get(NAMESPACES, '', name, { live: true });

const namespaceLabels = async (
  attributes: AdmissionAttributes,
  reader: ObjectReader,
): Promise<Readonly<Record<string, string>>> => {
  const { resource, subresource, operation, object, namespace } = attributes;
  const isWritten =
    resource.resource === 'namespaces' &&
    subresource === '' &&
    (operation === 'CREATE' || operation === 'UPDATE');
  if (isWritten) return object?.metadata?.labels ?? {};
  const found = await readNamespace(reader, namespace);
  if (!found) throw notFound(NAMESPACES, namespace);
  return found.metadata?.labels ?? {};
};

/** What is in no namespace is never exempt by a selector of namespaces. */
export const matchesNamespace = async (
  selector: ParsedSelector,
  attributes: AdmissionAttributes,
  reader: ObjectReader,
): Promise<boolean> => {
  if (attributes.namespace === '' && attributes.resource.resource !== 'namespaces') return true;
  if (selector instanceof StatusError) throw selector;
  return selector.isEmpty || selector.matches(await namespaceLabels(attributes, reader));
};

/** One of both objects is enough. */
export const matchesObject = (
  selector: ParsedSelector,
  { object, oldObject }: AdmissionAttributes,
): boolean => {
  if (selector instanceof StatusError) throw selector;
  if (selector.isEmpty) return true;
  // Options of connections have no metadata: no selector is about them.
  return [object, oldObject].some((one) => one?.metadata && selector.matches(one.metadata.labels ?? {}));
};
