import { apiPathOf } from '../../core/api/meta/group-version.ts';
import type { KubeResource } from '../../core/contract/index.ts';

/** Where the server serves one object, or the collection without a name. */
export const objectPath = (
  resource: Pick<KubeResource, 'group' | 'version' | 'plural' | 'namespaced'>,
  namespace: string,
  name?: string,
): string =>
  [
    apiPathOf(resource),
    ...(resource.namespaced && namespace !== '' ? ['namespaces', encodeURIComponent(namespace)] : []),
    resource.plural,
    ...(name === undefined ? [] : [encodeURIComponent(name)]),
  ].join('/');
