/**
 * The path of a field in an object, already in the form people read: `spec.containers[0].image`. A plain
 * string, because concatenation is lazy in JavaScript engines and most paths are never printed.
 */
export type FieldPath = string;

/** The path of a value that has no place in an object, such as a query parameter. */
export const NO_PATH: FieldPath = '';

export function child(path: FieldPath, ...names: readonly string[]): FieldPath {
  let result = path;
  for (const name of names) result = result === '' ? name : `${result}.${name}`;
  return result;
}

export const index = (path: FieldPath, position: number): FieldPath => `${path}[${position}]`;

export const key = (path: FieldPath, name: string): FieldPath => `${path}[${name}]`;

export const printPath = (path: FieldPath): string => (path === '' ? '<nil>' : path);
