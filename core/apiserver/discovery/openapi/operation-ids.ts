import type { GroupVersion } from '../../../api/meta/index.ts';

export const upperFirst = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * How a group version is written in operation ids (`RbacAuthorizationV1`) and in tags (`rbacAuthorization_v1`). The
 * domain of Kubernetes itself is left out.
 */
export const operationIdParts = ({ group, version }: GroupVersion): { prefix: string; tag: string } => {
  const words = (group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')).split(/[.-]/);
  const name = words.map(upperFirst).join('');
  return {
    prefix: name + upperFirst(version),
    tag: `${name.slice(0, 1).toLowerCase()}${name.slice(1)}_${version}`,
  };
};
