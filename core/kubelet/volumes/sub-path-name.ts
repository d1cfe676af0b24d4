import type { V1VolumeMount } from '../../api/schema/index.ts';
import { expandReferences } from './environment.ts';
import { configError } from './errors.ts';

/** Empty for the whole volume. */
export const subPathOf = (
  { subPath = '', subPathExpr = '' }: V1VolumeMount,
  environment: ReadonlyMap<string, string>,
): string => {
  const path = subPathExpr === '' ? subPath : expandReferences(subPathExpr, environment);
  if (path.startsWith('/')) throw configError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..'))
    throw configError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
};
