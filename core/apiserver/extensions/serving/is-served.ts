import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { RequestInfo } from '../../server/request-info.ts';
import { customResourceOf } from './custom-resource.ts';

/** Whether a server that knows the definition serves the path. */
export const isServedIn = (
  definition: KubernetesObject,
  { apiVersion, namespace, verb }: RequestInfo,
): boolean => {
  const { isServed, versions, isNamespaced } = customResourceOf(definition);
  if (isNamespaced && namespace === '' && verb !== 'list' && verb !== 'watch') return false;
  return isServed && versions.some(({ name, isServed: isOn }) => name === apiVersion && isOn);
};
