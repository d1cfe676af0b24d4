import type { Issues } from '../source/issues.ts';
import { type CallExpr, type Expr, childrenOf } from '../syntax/ast.ts';
import { compileRegex } from '../library/regex-cache.ts';
import { type Type, formatType, isEquivalentType, isOptional } from '../types/type.ts';
import { parseDuration, parseTimestamp, timestampOf } from '../values/time.ts';
import { CelError, type Value } from '../values/value.ts';
import { validateFormatCall } from './format-call.ts';

const visit = (expr: Expr, see: (expr: Expr) => void): void => {
  see(expr);
  for (const child of childrenOf(expr)) visit(child, see);
};

/** Whether a constant argument is one that the function can only fail on. */
const INVALID_ARGUMENT: Readonly<Record<string, (value: Value) => boolean>> = {
  duration: (value) => typeof value !== 'string' || parseDuration(value) === undefined,
  timestamp: (value) => {
    const parsed = typeof value === 'string' ? parseTimestamp(value) : timestampOf(Number(value), 0);
    return parsed === undefined || parsed instanceof CelError;
  },
  matches: (value) => typeof value === 'string' && compileRegex(value) instanceof CelError,
};

const validateConstant = (call: CallExpr, issues: Issues): void => {
  const isInvalid = Object.hasOwn(INVALID_ARGUMENT, call.fn) ? INVALID_ARGUMENT[call.fn] : undefined;
  const argument = call.args[0];
  if (isInvalid === undefined || argument?.kind !== 'literal') return;
  if (isInvalid(argument.value)) issues.reportAt(argument.offset, `invalid ${call.fn} argument`);
};

const elementType = (expr: Expr, optional: boolean): Type =>
  optional && isOptional(expr.type!) ? expr.type!.parameters[0]! : expr.type!;

/** Literals of mixed types pass the checker where one of them is dyn; this finds the rest. */
class Homogeneity {
  #first: Type | undefined;
  readonly issues: Issues;

  constructor(issues: Issues) {
    this.issues = issues;
  }

  /** False if the element does not agree with those before. */
  add(expr: Expr, type: Type): boolean {
    this.#first ??= type;
    if (isEquivalentType(this.#first, type)) return true;
    this.issues.reportAt(
      expr.offset,
      `expected type '${formatType(this.#first)}' but found '${formatType(type)}'`,
    );
    return false;
  }
}

const validateLiterals = (root: Expr, issues: Issues): void => {
  const walk = (expr: Expr): void => {
    // Arguments of format are of any types.
    if (expr.kind === 'call' && expr.fn === 'format') return;
    if (expr.kind === 'list') {
      const elements = new Homogeneity(issues);
      for (const { value, optional } of expr.elements)
        if (!elements.add(value, elementType(value, optional))) break;
    }
    if (expr.kind === 'map') {
      const keys = new Homogeneity(issues);
      const values = new Homogeneity(issues);
      for (const { key, value, optional } of expr.entries) {
        keys.add(key, key.type!);
        values.add(value, elementType(value, optional));
      }
    }
    childrenOf(expr).forEach(walk);
  };
  walk(root);
};

/** Finds constants in a well-typed tree that can only fail at run time. */
export const validate = (root: Expr, issues: Issues): void => {
  visit(root, (expr) => {
    if (expr.kind !== 'call') return;
    validateConstant(expr, issues);
    validateFormatCall(expr, issues);
  });
  validateLiterals(root, issues);
};
