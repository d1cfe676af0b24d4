import type { Environment, Program } from '../../../cel/index.ts';
import { createPace, type Pace } from '../../discovery/openapi/pace.ts';
import type { Cel } from './cel.ts';

type Type = ReturnType<Cel['types']['listOf']>;

/** An expression of a stored object: what runs, or why it cannot. */
export interface CompiledExpression {
  readonly text: string;
  readonly program: Program | undefined;
  /** In upstream's words; empty if there is a program. */
  readonly error: string;
}

/** Compiles one expression that must give one of these types; none: any type. */
export const compileExpression = (
  { types }: Cel,
  environment: Environment,
  text: string,
  wanted: readonly Type[] = [],
): CompiledExpression => {
  const compiled = environment.compile(text);
  const failed = (error: string): CompiledExpression => ({ text, program: undefined, error });
  if (!compiled.ok)
    return failed(
      compiled.reason === 'no-program'
        ? `program instantiation failed: ${compiled.text}`
        : `compilation failed: ${compiled.text}`,
    );
  const { program } = compiled;
  const { resultType } = program;
  if (wanted.length > 0 && !wanted.some((type) => types.isExactType(resultType, type))) {
    const got = types.formatType(resultType);
    const names = wanted.map((type) => types.formatType(type));
    return failed(
      names.length === 1
        ? `must evaluate to ${names[0]} but got ${got}`
        : `must evaluate to one of [${names.join(' ')}] but got ${got}`,
    );
  }
  return { text, program, error: '' };
};

/** Compiles a list in order. A policy may have thousands of expressions: others get their turn in between. */
export const compileAll = async <T, R>(
  items: readonly T[],
  compile: (item: T, at: number) => R,
  pace: Pace = createPace(),
): Promise<R[]> => {
  const results: R[] = [];
  for (const [at, item] of items.entries()) {
    const turn = pace();
    if (turn) await turn;
    results.push(compile(item, at));
  }
  return results;
};
