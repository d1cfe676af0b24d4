import type { V1Pod } from '../../api/schema/index.ts';

/** Groups of every process of the pod: `fsGroup` first, as upstream. */
export const groupsOf = ({ spec }: V1Pod): readonly number[] => {
  const { fsGroup, supplementalGroups = [] } = spec?.securityContext ?? {};
  return [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups];
};
