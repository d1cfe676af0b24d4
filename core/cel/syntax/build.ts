import type { Value } from '../values/value.ts';
import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type IdentExpr,
  type ListExpr,
  type LiteralExpr,
  type MapEntry,
  type MapExpr,
  type SelectExpr,
  type StructExpr,
  type StructField,
  childrenOf,
} from './ast.ts';

const deepest = (exprs: readonly Expr[]): number => {
  let depth = 0;
  for (const expr of exprs) if (expr.depth > depth) depth = expr.depth;
  return depth;
};

export const literal = (offset: number, value: Value): LiteralExpr => ({
  kind: 'literal',
  offset,
  depth: 0,
  value,
});

export const ident = (offset: number, name: string): IdentExpr => ({ kind: 'ident', offset, depth: 0, name });

/** Members, indices, relations, sums and conditionals nest; all else takes the depth of its parts. */
export const nested = <T extends Expr>(expr: T): T => ({ ...expr, depth: expr.depth + 1 });

export const call = (
  offset: number,
  fn: string,
  args: readonly Expr[],
  target: Expr | undefined = undefined,
): CallExpr => ({
  kind: 'call',
  offset,
  depth: Math.max(deepest(args), target?.depth ?? 0),
  fn,
  target,
  args,
});

export const select = (offset: number, operand: Expr, field: string, testOnly = false): SelectExpr => ({
  kind: 'select',
  offset,
  depth: operand.depth + (testOnly ? 0 : 1),
  operand,
  field,
  testOnly,
});

export const list = (
  offset: number,
  elements: readonly { readonly value: Expr; readonly optional: boolean }[],
): ListExpr => ({ kind: 'list', offset, depth: deepest(elements.map(({ value }) => value)), elements });

export const map = (offset: number, entries: readonly MapEntry[]): MapExpr => ({
  kind: 'map',
  offset,
  depth: deepest(entries.flatMap(({ key, value }) => [key, value])),
  entries,
});

export const struct = (offset: number, typeName: string, fields: readonly StructField[]): StructExpr => ({
  kind: 'struct',
  offset,
  depth: deepest(fields.map(({ value }) => value)),
  typeName,
  fields,
});

export const comprehension = (
  offset: number,
  parts: Omit<ComprehensionExpr, 'kind' | 'offset' | 'depth' | 'type'>,
): ComprehensionExpr => ({
  kind: 'comprehension',
  offset,
  depth: deepest([parts.range, parts.init, parts.condition, parts.step, parts.result]),
  ...parts,
});

export const countNodes = (expr: Expr): number =>
  childrenOf(expr).reduce((count, child) => count + countNodes(child), 1);

/** A second tree for an expression that a macro needs twice. */
export const copy = (expr: Expr): Expr => {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return { ...expr };
    case 'select':
      return { ...expr, operand: copy(expr.operand) };
    case 'call':
      return {
        ...expr,
        target: expr.target === undefined ? undefined : copy(expr.target),
        args: expr.args.map(copy),
      };
    case 'list':
      return { ...expr, elements: expr.elements.map((each) => ({ ...each, value: copy(each.value) })) };
    case 'map':
      return {
        ...expr,
        entries: expr.entries.map((each) => ({ ...each, key: copy(each.key), value: copy(each.value) })),
      };
    case 'struct':
      return { ...expr, fields: expr.fields.map((each) => ({ ...each, value: copy(each.value) })) };
    case 'comprehension':
      return {
        ...expr,
        range: copy(expr.range),
        init: copy(expr.init),
        condition: copy(expr.condition),
        step: copy(expr.step),
        result: copy(expr.result),
      };
  }
};

/**
 * Terms of `&&` or `||` as a balanced tree, as cel-go builds it: a thousand terms must not nest a thousand deep,
 * and costs and positions follow the same shape.
 */
export const balanced = (fn: string, terms: readonly Expr[], offsets: readonly number[]): Expr => {
  if (terms.length === 1) return terms[0]!;
  const build = (low: number, high: number): Expr => {
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? terms[middle]! : build(low, middle - 1);
    const right = middle === high ? terms[middle + 1]! : build(middle + 1, high);
    return call(offsets[middle]!, fn, [left, right]);
  };
  return build(0, offsets.length - 1);
};
