import { type FormatClause, parseFormat } from '../library/format-string.ts';
import type { Issues } from '../source/issues.ts';
import { type CallExpr, type Expr } from '../syntax/ast.ts';
import type { TypeKind } from '../types/type.ts';

const CLAUSE_KINDS: Readonly<Record<FormatClause['verb'], readonly TypeKind[]>> = {
  s: 'list map int uint double bool string timestamp bytes duration type null'.split(' ') as TypeKind[],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
};

const fits = (expr: Expr, verb: FormatClause['verb']): boolean =>
  expr.type!.kind === 'dyn' || CLAUSE_KINDS[verb].includes(expr.type!.kind);

/** The part of an argument that `%s` cannot print, if there is one. */
const unprintable = (expr: Expr): Expr | undefined => {
  if (!fits(expr, 's')) return expr;
  const parts =
    expr.kind === 'list'
      ? expr.elements.map(({ value }) => value)
      : expr.kind === 'map'
        ? expr.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const found = unprintable(part);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Checks the clauses of a constant format against the types of its arguments. */
export const validateFormatCall = (call: CallExpr, issues: Issues): void => {
  const [list] = call.args;
  if (call.fn !== 'format' || call.target?.kind !== 'literal' || list?.kind !== 'list') return;
  if (call.overloads?.some(({ id }) => id === 'string_format') !== true) return;
  const format = call.target.value;
  if (typeof format !== 'string') return;
  const args = list.elements.map(({ value }) => value);
  let used = 0;
  const parsed = parseFormat(format, {
    count: args.length,
    clause: (clause, index) => {
      used = index + 1;
      const argument = args[index]!;
      const wrong =
        clause.verb === 's' ? unprintable(argument) : fits(argument, clause.verb) ? undefined : argument;
      if (wrong === undefined) return '';
      return { offset: wrong.offset, message: clause.mismatch(wrong.type!.name) };
    },
    // Upstream notices a missing argument only while it reads the clause.
    missing: () => {
      used++;
    },
  });
  if (typeof parsed !== 'string') issues.reportAt(parsed.offset ?? call.offset, parsed.message);
  else if (args.length > used)
    issues.reportAt(
      call.offset,
      `too many arguments supplied to string.format (expected ${used}, got ${args.length})`,
    );
};
