import { isObject, type Json } from '../../../api/patch/json.ts';

const PATHS_MAX = 32;
const PATH_LENGTH_MAX = 256;

/** What a trace keeps of a patch: operations and paths. Values may be secret. */
export const patchPaths = (operations: readonly Json[]): readonly string[] =>
  operations.slice(0, PATHS_MAX).map((operation) => {
    const { op, path } = isObject(operation) ? operation : {};
    return `${String(op)} ${String(path)}`.slice(0, PATH_LENGTH_MAX);
  });

/** The fields of an apply configuration, as `apply /metadata/labels/a`; a list is one of them. */
export const configurationPaths = (configuration: Json): readonly string[] => {
  const paths: string[] = [];
  const visit = (value: Json, path: string): void => {
    if (paths.length >= PATHS_MAX) return;
    if (!isObject(value)) {
      paths.push(`apply ${path}`.slice(0, PATH_LENGTH_MAX));
      return;
    }
    for (const [name, inner] of Object.entries(value))
      if (inner !== undefined) visit(inner, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  };
  visit(configuration, '');
  return paths;
};
