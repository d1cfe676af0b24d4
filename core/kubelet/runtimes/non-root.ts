import type { V1Container, V1Pod } from '../../api/schema/index.ts';
import { configError } from '../volumes/errors.ts';

/** `runAsNonRoot`. VolumeError `CreateContainerConfigError` where the specification says root all the same. */
export const mustNotBeRoot = ({ spec }: V1Pod, { securityContext: own }: V1Container): boolean => {
  const shared = spec?.securityContext;
  if ((own?.runAsNonRoot ?? shared?.runAsNonRoot) !== true) return false;
  if ((own?.runAsUser ?? shared?.runAsUser) === 0)
    throw configError("container's runAsUser breaks non-root policy");
  return true;
};
