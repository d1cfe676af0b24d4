import { ACCUMULATOR, type Expr, LEGACY_ACCUMULATOR, OPERATOR, UNUSED_VARIABLE } from './ast.ts';
import { call, comprehension, ident, list, literal, select } from './build.ts';
import { type Macro, type MacroCall, MacroError } from './macro.ts';

type Quantifier = 'all' | 'exists' | 'exists-one';

const element = (value: Expr): { value: Expr; optional: boolean } => ({ value, optional: false });

export const checkVariable = (variable: Expr, notAName: string): string => {
  if (variable.kind !== 'ident') throw new MacroError(variable.offset, notAName);
  if (variable.name === ACCUMULATOR || variable.name === LEGACY_ACCUMULATOR)
    throw new MacroError(variable.offset, 'iteration variable overwrites accumulator variable');
  return variable.name;
};

/** The parts of a quantifier's loop besides its range and variables. */
export const quantifierParts = (
  quantifier: Quantifier,
  offset: number,
  predicate: Expr,
): { accumulator: string; init: Expr; condition: Expr; step: Expr; result: Expr } => {
  const accu = (): Expr => ident(offset, ACCUMULATOR);
  const common = { accumulator: ACCUMULATOR, result: accu() };
  switch (quantifier) {
    case 'all':
      return {
        ...common,
        init: literal(offset, true),
        condition: call(offset, OPERATOR.notStrictlyFalse, [accu()]),
        step: call(offset, OPERATOR.and, [accu(), predicate]),
      };
    case 'exists':
      return {
        ...common,
        init: literal(offset, false),
        condition: call(offset, OPERATOR.notStrictlyFalse, [call(offset, OPERATOR.not, [accu()])]),
        step: call(offset, OPERATOR.or, [accu(), predicate]),
      };
    case 'exists-one':
      return {
        accumulator: ACCUMULATOR,
        init: literal(offset, 0),
        condition: literal(offset, true),
        step: call(offset, OPERATOR.conditional, [
          predicate,
          call(offset, OPERATOR.add, [accu(), literal(offset, 1)]),
          accu(),
        ]),
        result: call(offset, OPERATOR.equals, [accu(), literal(offset, 1)]),
      };
  }
};

const quantify =
  (quantifier: Quantifier) =>
  ({ offset, target, args: [variable, predicate] }: MacroCall): Expr =>
    comprehension(offset, {
      range: target!,
      variable: checkVariable(variable!, 'argument must be a simple name'),
      variable2: undefined,
      ...quantifierParts(quantifier, offset, predicate!),
    });

/** `accumulator + [transformed]`, only for elements that pass the filter. */
export const appendStep = (offset: number, transformed: Expr, filter: Expr | undefined): Expr => {
  const append = call(offset, OPERATOR.add, [
    ident(offset, ACCUMULATOR),
    list(offset, [element(transformed)]),
  ]);
  return filter === undefined
    ? append
    : call(offset, OPERATOR.conditional, [filter, append, ident(offset, ACCUMULATOR)]);
};

export const buildList = (
  offset: number,
  loop: { range: Expr; variable: string; variable2: string | undefined; step: Expr },
): Expr =>
  comprehension(offset, {
    ...loop,
    accumulator: ACCUMULATOR,
    init: list(offset, []),
    condition: literal(offset, true),
    result: ident(offset, ACCUMULATOR),
  });

export const expandMap = ({ offset, target, args }: MacroCall): Expr => {
  const variable = checkVariable(args[0]!, 'argument is not an identifier');
  const [filter, transformed] = args.length === 3 ? [args[1], args[2]!] : [undefined, args[1]!];
  return buildList(offset, {
    range: target!,
    variable,
    variable2: undefined,
    step: appendStep(offset, transformed, filter),
  });
};

const expandFilter = ({ offset, target, args: [variable, predicate] }: MacroCall): Expr => {
  const name = checkVariable(variable!, 'argument is not an identifier');
  const step = appendStep(offset, variable!, predicate);
  return buildList(offset, { range: target!, variable: name, variable2: undefined, step });
};

const expandHas = ({ offset, args }: MacroCall): Expr => {
  const operand = args[0]!;
  if (operand.kind !== 'select') throw new MacroError(operand.offset, 'invalid argument to has() macro');
  return select(offset, operand.operand, operand.field, true);
};

/** A loop over nothing, whose accumulator is the bound variable and is evaluated when it is first used. */
export const bind = (
  offset: number,
  parts: { variable: string; init: Expr; step: Expr; result: Expr },
): Expr =>
  comprehension(offset, {
    range: list(offset, []),
    variable: UNUSED_VARIABLE,
    variable2: undefined,
    accumulator: parts.variable,
    init: parts.init,
    condition: literal(offset, false),
    step: parts.step,
    result: parts.result,
  });

const expandBind = ({ offset, target, args }: MacroCall): Expr | undefined => {
  if (target?.kind !== 'ident' || target.name !== 'cel') return undefined;
  const [variable, init, result] = args as [Expr, Expr, Expr];
  if (variable.kind !== 'ident')
    throw new MacroError(variable.offset, 'cel.bind() variable names must be simple identifiers');
  return bind(offset, { variable: variable.name, init, step: variable, result });
};

const expandOptional =
  (name: 'optMap' | 'optFlatMap') =>
  ({ offset, target, args, copy }: MacroCall): Expr => {
    const [variable, mapped] = args as [Expr, Expr];
    if (variable.kind !== 'ident')
      throw new MacroError(variable.offset, `${name}() variable name must be a simple identifier`);
    const bound = bind(offset, {
      variable: variable.name,
      init: call(offset, 'value', [], copy(target!)),
      step: ident(offset, variable.name),
      result: mapped,
    });
    return call(offset, OPERATOR.conditional, [
      call(offset, 'hasValue', [], target),
      name === 'optMap' ? call(offset, 'optional.of', [bound]) : bound,
      call(offset, 'optional.none', []),
    ]);
  };

const onMember = (name: string, arity: number, expand: Macro['expand']): Macro => ({
  name,
  arity,
  isMember: true,
  expand,
});

export const STANDARD_MACROS: readonly Macro[] = [
  { name: 'has', arity: 1, isMember: false, expand: expandHas },
  onMember('all', 2, quantify('all')),
  onMember('exists', 2, quantify('exists')),
  onMember('exists_one', 2, quantify('exists-one')),
  onMember('map', 2, expandMap),
  onMember('map', 3, expandMap),
  onMember('filter', 2, expandFilter),
];

export const BIND_MACROS: readonly Macro[] = [onMember('bind', 3, expandBind)];

export const OPTIONAL_MACROS: readonly Macro[] = [
  onMember('optMap', 2, expandOptional('optMap')),
  onMember('optFlatMap', 2, expandOptional('optFlatMap')),
];
