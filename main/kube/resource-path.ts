import { apiPathOf } from '../../core/api/meta/group-version.ts';
import type { ResourceRef } from '../../core/contract/index.ts';

/** Where a collection, or one object of it, is served. */
export const resourcePath = (resource: ResourceRef, namespace: string | null, name?: string): string => {
  const parts = [
    apiPathOf(resource),
    ...(namespace === null ? [] : ['namespaces', encodeURIComponent(namespace)]),
    encodeURIComponent(resource.plural),
    ...(name === undefined ? [] : [encodeURIComponent(name)]),
  ];
  return parts.join('/');
};
