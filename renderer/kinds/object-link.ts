import type { KubeResource } from '../../core/contract/index.ts';
import { categoryOf, resourceName } from './categories.ts';

/** Where the console shows one object. */
export const objectRoute = (
  resource: Pick<KubeResource, 'group' | 'plural' | 'namespaced'>,
  namespace: string,
  name: string,
): { readonly path: string; readonly query: { readonly kind: string; readonly open: string } } => ({
  path: `/${categoryOf(resource)}`,
  query: { kind: resourceName(resource), open: `${resource.namespaced ? namespace : ''}/${name}` },
});
