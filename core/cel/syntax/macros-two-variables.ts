import { ACCUMULATOR, type Expr, OPERATOR } from './ast.ts';
import { call, comprehension, ident, literal, map } from './build.ts';
import { type Macro, type MacroCall, MacroError } from './macro.ts';
import { appendStep, buildList, checkVariable, quantifierParts } from './macros.ts';

/** Adds an entry, or the entries of a map, to the accumulator; fails for a key that is there already. */
export const MAP_INSERT = 'cel.@mapInsert';

const checkVariables = (first: Expr, second: Expr): { variable: string; variable2: string } => {
  for (const each of [first, second])
    if (each.kind !== 'ident') throw new MacroError(each.offset, 'argument must be a simple name');
  if (first.kind === 'ident' && second.kind === 'ident' && first.name === second.name)
    throw new MacroError(second.offset, `duplicate variable name: ${first.name}`);
  const notAName = 'argument must be a simple name';
  return { variable: checkVariable(first, notAName), variable2: checkVariable(second, notAName) };
};

const quantify =
  (quantifier: 'all' | 'exists' | 'exists-one') =>
  ({ offset, target, args: [first, second, predicate] }: MacroCall): Expr =>
    comprehension(offset, {
      range: target!,
      ...checkVariables(first!, second!),
      ...quantifierParts(quantifier, offset, predicate!),
    });

const filterAndTransform = (args: readonly Expr[]): { filter: Expr | undefined; transformed: Expr } =>
  args.length === 4
    ? { filter: args[2]!, transformed: args[3]! }
    : { filter: undefined, transformed: args[2]! };

const transformList = ({ offset, target, args }: MacroCall): Expr => {
  const variables = checkVariables(args[0]!, args[1]!);
  const { filter, transformed } = filterAndTransform(args);
  return buildList(offset, { range: target!, ...variables, step: appendStep(offset, transformed, filter) });
};

const transformMap =
  (insertedArguments: (key: Expr, transformed: Expr) => readonly Expr[]) =>
  ({ offset, target, args }: MacroCall): Expr => {
    const variables = checkVariables(args[0]!, args[1]!);
    const { filter, transformed } = filterAndTransform(args);
    const insert = call(offset, MAP_INSERT, [
      ident(offset, ACCUMULATOR),
      ...insertedArguments(ident(offset, variables.variable), transformed),
    ]);
    return comprehension(offset, {
      range: target!,
      ...variables,
      accumulator: ACCUMULATOR,
      init: map(offset, []),
      condition: literal(offset, true),
      step:
        filter === undefined
          ? insert
          : call(offset, OPERATOR.conditional, [filter, insert, ident(offset, ACCUMULATOR)]),
      result: ident(offset, ACCUMULATOR),
    });
  };

const onMember = (name: string, arity: number, expand: Macro['expand']): Macro => ({
  name,
  arity,
  isMember: true,
  expand,
});
const withKey = transformMap((key, transformed) => [key, transformed]);
const withEntry = transformMap((_key, transformed) => [transformed]);

export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  onMember('all', 3, quantify('all')),
  onMember('exists', 3, quantify('exists')),
  onMember('existsOne', 3, quantify('exists-one')),
  onMember('exists_one', 3, quantify('exists-one')),
  onMember('transformList', 3, transformList),
  onMember('transformList', 4, transformList),
  onMember('transformMap', 3, withKey),
  onMember('transformMap', 4, withKey),
  onMember('transformMapEntry', 3, withEntry),
  onMember('transformMapEntry', 4, withEntry),
];
