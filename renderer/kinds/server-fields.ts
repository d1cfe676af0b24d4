import { fieldsOf } from './kube-object.ts';

/** An object without the fields that only the server sets. */
export const withoutServerFields = (object: unknown): Record<string, unknown> => {
  const { status: _status, ...rest } = fieldsOf(object);
  const {
    managedFields: _managed,
    resourceVersion: _version,
    uid: _uid,
    creationTimestamp: _created,
    generation: _generation,
    selfLink: _link,
    ...metadata
  } = fieldsOf(rest['metadata']);
  const { 'kubectl.kubernetes.io/last-applied-configuration': _applied, ...annotations } = fieldsOf(
    metadata['annotations'],
  );
  const { annotations: _all, ...plain } = metadata;
  return {
    ...rest,
    metadata: { ...plain, ...(Object.keys(annotations).length > 0 && { annotations }) },
  };
};
