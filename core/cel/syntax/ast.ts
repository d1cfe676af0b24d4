import type { Overload } from '../values/overload.ts';
import type { Type } from '../types/type.ts';
import type { Value } from '../values/value.ts';

interface Node {
  /** Where errors about this node point to; an index into the source text. */
  readonly offset: number;
  /** Nested operators below and including this node: what cel-go bounds while it builds its tree. */
  readonly depth: number;
  /** Set by the checker. */
  type?: Type;
}

export interface LiteralExpr extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}
export interface IdentExpr extends Node {
  readonly kind: 'ident';
  name: string;
  /** Set by the checker when the name denotes a constant, such as a type. */
  constant?: Value;
}
export interface SelectExpr extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)` */
  readonly testOnly: boolean;
  /** Set by the checker when the dotted name as a whole denotes a variable or a type. */
  qualified?: { readonly name: string; readonly constant?: Value };
}
export interface CallExpr extends Node {
  readonly kind: 'call';
  fn: string;
  target: Expr | undefined;
  readonly args: readonly Expr[];
  /** The overloads that the argument types admit. */
  overloads?: readonly Overload[];
}
export interface ListExpr extends Node {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[];
}
export interface MapEntry {
  readonly offset: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface MapExpr extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}
export interface StructField {
  readonly offset: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface StructExpr extends Node {
  readonly kind: 'struct';
  readonly typeName: string;
  readonly fields: readonly StructField[];
}
/** The one loop of the language; every macro with a variable expands to it. */
export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension';
  readonly range: Expr;
  readonly variable: string;
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr =
  LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr;

/** The accumulator of macros; `@` keeps it out of reach of expressions. */
export const ACCUMULATOR = '@result';
export const LEGACY_ACCUMULATOR = '__result__';
export const UNUSED_VARIABLE = '#unused';

export const OPERATOR = {
  conditional: '_?_:_',
  and: '_&&_',
  or: '_||_',
  not: '!_',
  equals: '_==_',
  notEquals: '_!=_',
  less: '_<_',
  lessEquals: '_<=_',
  greater: '_>_',
  greaterEquals: '_>=_',
  in: '@in',
  add: '_+_',
  subtract: '_-_',
  multiply: '_*_',
  divide: '_/_',
  modulo: '_%_',
  negate: '-_',
  index: '_[_]',
  optIndex: '_[?_]',
  optSelect: '_?._',
  notStrictlyFalse: '@not_strictly_false',
} as const;

/** The children of a node in source order. */
export const childrenOf = (expr: Expr): readonly Expr[] => {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements.map(({ value }) => value);
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
  }
};
