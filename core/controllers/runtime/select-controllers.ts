import { ReasonError } from '../../base/errors.ts';

export interface Selectable {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly isOnByDefault: boolean;
}

/** `--controllers`: `*` is all that are on by default, `foo` turns on, `-foo` turns off; the first that fits counts. */
export const selectControllers = <T extends Selectable>(
  known: readonly T[],
  patterns: readonly string[],
): readonly T[] => {
  const names = new Set(known.flatMap(({ name, aliases }) => [name, ...aliases]));
  const wrong = patterns.filter((pattern) => pattern !== '*' && !names.has(pattern.replace(/^-/, '')));
  if (wrong.length > 0)
    throw new ReasonError(
      'BadConfiguration',
      `--controllers: ${wrong.map((name) => JSON.stringify(name)).join(', ')} is not in the list of known controllers`,
    );
  return known.filter(({ name, aliases, isOnByDefault }) => {
    for (const pattern of patterns) {
      if (pattern === name || aliases.includes(pattern)) return true;
      if (pattern === `-${name}` || aliases.some((alias) => pattern === `-${alias}`)) return false;
    }
    return patterns.includes('*') && isOnByDefault;
  });
};
