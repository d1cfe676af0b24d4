import type { Expr } from './ast.ts';

/** Thrown by a macro whose arguments it cannot expand. */
export class MacroError extends Error {
  override readonly name = 'MacroError';
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

export interface MacroCall {
  /** Where nodes that the macro makes are said to be: the parenthesis of the call. */
  readonly offset: number;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** A second tree for an expression that is needed twice. */
  readonly copy: (expr: Expr) => Expr;
}

/** A call that the parser replaces by another expression. */
export interface Macro {
  readonly name: string;
  readonly arity: number;
  readonly isMember: boolean;
  /** Undefined if the call is none of this macro after all. */
  readonly expand: (macroCall: MacroCall) => Expr | undefined;
}

export const macroKey = (name: string, arity: number, isMember: boolean): string =>
  `${name}:${arity}:${isMember}`;
