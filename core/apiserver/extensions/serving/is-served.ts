import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { RequestInfo } from '../../server/index.ts';
import { customResourceOf } from './custom-resource.ts';

/** Whether a server that knows the definition serves the path. */
export const isServedIn = (
  definition: KubernetesObject,
  { apiVersion, subresource }: Pick<RequestInfo, 'apiVersion' | 'subresource'>,
): boolean => {
  const { isServed, versions } = customResourceOf(definition);
  const version = versions.find(({ name }) => name === apiVersion);
  if (!isServed || version?.isServed !== true) return false;
  if (subresource === 'status') return version.hasStatus;
  return subresource === '' || (subresource === 'scale' && version.scale !== undefined);
};
