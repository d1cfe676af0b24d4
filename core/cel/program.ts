import { messageOf } from '../base/errors.ts';
import { WORK_STEPS_MAX } from './bounds.ts';
import type { Variable } from './environment.ts';
import { CostLimitExceeded, Frame, type Resolve } from './evaluate/frame.ts';
import type { Plan } from './evaluate/plan.ts';
import { type Expr, childrenOf } from './syntax/ast.ts';
import type { Type } from './types/type.ts';
import { CelError, type Value } from './values/value.ts';
import { WorkLimitExceeded, withWorkLimit } from './values/work.ts';

/** Thrown by a host's functions to leave an evaluation that it will repeat, such as one that needs a decision first. */
export class EvaluationInterrupted extends Error {
  override readonly name: string = 'EvaluationInterrupted';
}

/** Raw data by the names of variables, or a function that finds it when it is needed. */
export type Activation = Readonly<Record<string, unknown>> | ((name: string) => unknown);

export interface EvaluateOptions {
  readonly costLimit?: number;
}

export type EvaluationFailure = 'failed' | 'cost-limit';

export type Evaluation =
  | { readonly ok: true; readonly value: Value; readonly cost: number }
  | {
      readonly ok: false;
      readonly reason: EvaluationFailure;
      /** As upstream says it. */
      readonly error: string;
      readonly cost: number;
    };

interface ProgramParts {
  readonly text: string;
  readonly expr: Expr;
  readonly plan: Plan;
  readonly variables: ReadonlyMap<string, Variable>;
  readonly costLimit: number;
}

/** A compiled expression. Holds no state of evaluations: one program may serve any number of them. */
export class Program {
  readonly #parts: ProgramParts;

  constructor(parts: ProgramParts) {
    this.#parts = parts;
  }

  get text(): string {
    return this.#parts.text;
  }
  get expr(): Expr {
    return this.#parts.expr;
  }
  get resultType(): Type {
    return this.#parts.expr.type!;
  }

  /** Whether the expression refers to a variable that its environment declares. */
  uses(variable: string): boolean {
    return this.some(
      (expr) =>
        (expr.kind === 'ident' && expr.name === variable) ||
        (expr.kind === 'select' && expr.qualified?.name === variable),
    );
  }

  /** Whether any part of the expression satisfies the predicate. */
  some(predicate: (expr: Expr) => boolean): boolean {
    const search = (expr: Expr): boolean => predicate(expr) || childrenOf(expr).some(search);
    return search(this.#parts.expr);
  }

  evaluate(activation: Activation = {}, { costLimit }: EvaluateOptions = {}): Evaluation {
    const { plan, costLimit: standard } = this.#parts;
    const frame = new Frame(this.#resolver(activation), costLimit ?? standard, plan.localCount);
    try {
      const value = withWorkLimit(WORK_STEPS_MAX, () => plan.step(frame));
      if (value instanceof CelError)
        return { ok: false, reason: 'failed', error: value.message, cost: frame.cost };
      return { ok: true, value, cost: frame.cost };
    } catch (thrown) {
      if (thrown instanceof EvaluationInterrupted) throw thrown;
      const isLimit = thrown instanceof CostLimitExceeded || thrown instanceof WorkLimitExceeded;
      const reason = isLimit ? 'cost-limit' : 'failed';
      const error = reason === 'cost-limit' ? messageOf(thrown) : `internal error: ${messageOf(thrown)}`;
      return { ok: false, reason, error, cost: frame.cost };
    }
  }

  /** Each variable is converted once an evaluation, when it is first read. */
  #resolver(activation: Activation): Resolve {
    const { variables } = this.#parts;
    const converted = new Map<string, Value>();
    const read = typeof activation === 'function' ? activation : (name: string) => activation[name];
    return (name) => {
      const known = converted.get(name);
      if (known !== undefined) return known;
      const raw = read(name);
      if (raw === undefined) return undefined;
      const value = variables.get(name)!.convert(raw);
      converted.set(name, value);
      return value;
    };
  }
}
