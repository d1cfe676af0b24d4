import type { Expr } from '../syntax/ast.ts';
import type { Type } from '../types/type.ts';
import type { Range } from './ranges.ts';

/** An argument of a call, as estimators of functions see it. */
export interface CostNode {
  /** Variable, then fields, `@items`, `@keys` or `@values`: where the data comes from, if it comes from a variable. */
  readonly path: readonly string[] | undefined;
  readonly type: Type;
  /** Missing for the elements of a list. */
  readonly expr: Expr | undefined;
  /** The size as far as the expression itself tells it. */
  readonly size: Range | undefined;
}

/** Bounds of data that a host knows, such as those of a schema. */
export type EstimateSize = (path: readonly string[]) => Range | undefined;

export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result, if it has one. */
  readonly size?: Range;
}

/** What a call costs besides its arguments; undefined if the estimator does not know the function. */
export interface CallContext {
  readonly fn: string;
  readonly overloadId: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
  readonly sizeOf: (node: CostNode) => Range;
}
export type EstimateCall = (call: CallContext) => CallEstimate | undefined;
