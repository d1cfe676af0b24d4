import { isObject, type Json } from '../../../api/patch/index.ts';

const PATHS_MAX = 32;
const PATH_LENGTH_MAX = 256;

/** What a trace keeps of a patch: operations and paths. Values may be secret. */
export const patchPaths = (operations: readonly Json[]): readonly string[] =>
  operations.slice(0, PATHS_MAX).map((operation) => {
    const { op, path } = isObject(operation) ? operation : {};
    return `${String(op)} ${String(path)}`.slice(0, PATH_LENGTH_MAX);
  });
