import { PER_CALL_COST_LIMIT } from './bounds.ts';
import { check } from './check/checker.ts';
import type { Declarations } from './check/scope.ts';
import { validate } from './check/validators.ts';
import { estimateCost as estimateExpression } from './cost/estimate.ts';
import type { EstimateSize } from './cost/nodes.ts';
import type { Range } from './cost/ranges.ts';
import { PlanError, plan } from './evaluate/plan.ts';
import { type FunctionSet, functionSetOf } from './function-set.ts';
import type { Library } from './library/declare.ts';
import type { Overload } from './values/overload.ts';
import { Program } from './program.ts';
import { type Issue, Issues } from './source/issues.ts';
import { SourceText } from './source/text.ts';
import type { Expr } from './syntax/ast.ts';
import { parse } from './syntax/parser.ts';
import { type StructTypes, structTypesOf } from './values/struct-declaration.ts';
import { type Type, isExactType } from './types/type.ts';
import { fromNative } from './values/native.ts';
import type { Value } from './values/value.ts';
import type { Version } from './versions.ts';

/** A variable: its type, and how data that a host gives for it becomes a value. */
export interface Variable {
  readonly type: Type;
  readonly convert: (raw: unknown) => Value;
  /** Object types that the type of the variable refers to. */
  readonly structs?: StructTypes;
}

export interface EnvironmentOptions {
  /** Whose libraries expressions may use: `1.34`, or `stored` for expressions that were accepted before. */
  readonly version: Version;
  readonly variables?: Readonly<Record<string, Type | Variable>>;
  /** Libraries besides those of the version. */
  readonly libraries?: readonly Library[];
  readonly structs?: StructTypes;
  /** Off for other users of CEL than Kubernetes: lists and maps of mixed types are allowed. */
  readonly homogeneousLiterals?: boolean;
}

export interface CompileOptions {
  readonly expectedType?: Type | readonly Type[];
}

/** Called between phases: undefined while there is time left, else what to wait for. */
export type Pace = () => Promise<unknown> | undefined;

export type CompileResult =
  | { readonly ok: true; readonly program: Program }
  | {
      readonly ok: false;
      /** Whether the text is wrong, its type is not wanted, or it cannot become a program. */
      readonly reason: 'invalid' | 'unexpected-type' | 'no-program';
      /** As upstream prints it. */
      readonly text: string;
      readonly issues: readonly Issue[];
    };

const isVariable = (declared: Type | Variable): declared is Variable => 'convert' in declared;

/** What expressions may use, and what they compile to. Environments are immutable and shared. */
export class Environment {
  readonly #declarations: Declarations;
  readonly #functions: FunctionSet;
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly #homogeneousLiterals: boolean;

  constructor(options: EnvironmentOptions) {
    const variables = Object.entries(options.variables ?? {}).map(
      ([name, declared]) =>
        [name, isVariable(declared) ? declared : { type: declared, convert: fromNative }] as const,
    );
    const structs = structTypesOf(
      ...variables.flatMap(([, { structs: own }]) => (own === undefined ? [] : [own])),
      ...(options.structs === undefined ? [] : [options.structs]),
    );
    this.#functions = functionSetOf(options.version, options.libraries);
    this.#variables = new Map(variables);
    this.#declarations = {
      variables: new Map(variables.map(([name, { type }]) => [name, type])),
      functions: this.#functions.overloads,
      types: this.#functions.types,
      structs,
    };
    this.#homogeneousLiterals = options.homogeneousLiterals ?? true;
  }

  /** Functions by name, for tools that list what there is. */
  get functions(): ReadonlyMap<string, readonly Overload[]> {
    return this.#declarations.functions;
  }

  compile(text: string, options: CompileOptions = {}): CompileResult {
    const phases = this.#phases(text, options);
    for (;;) {
      const phase = phases.next();
      if (phase.done) return phase.value;
    }
  }

  /** Long expressions hold the event loop for one phase at a time. */
  async compileInTurns(text: string, pace: Pace, options: CompileOptions = {}): Promise<CompileResult> {
    const phases = this.#phases(text, options);
    for (;;) {
      const phase = phases.next();
      if (phase.done) return phase.value;
      const turn = pace();
      if (turn) await turn;
    }
  }

  *#phases(text: string, { expectedType }: CompileOptions): Generator<void, CompileResult> {
    const issues = new Issues(new SourceText(text));
    const invalid = (): CompileResult => ({
      ok: false,
      reason: 'invalid',
      text: issues.format(),
      issues: issues.list(),
    });
    const expr = parse(issues.source, { macros: this.#functions.macros, optionalSyntax: true }, issues);
    if (expr === undefined) return invalid();
    yield;
    check(expr, this.#declarations, issues);
    if (issues.count > 0) return invalid();
    yield;
    if (this.#homogeneousLiterals) validate(expr, issues);
    if (issues.count > 0) return invalid();
    const expected = expectedType === undefined ? [] : [expectedType].flat();
    if (expected.length > 0 && !expected.some((type) => isExactType(type, expr.type!)))
      return {
        ok: false,
        reason: 'unexpected-type',
        text: `must evaluate to ${expected.map(({ name }) => name).join(' or ')}`,
        issues: [],
      };
    yield;
    return this.#planned(expr, text);
  }

  #planned(expr: Expr, text: string): CompileResult {
    try {
      const planned = plan(expr, { functions: this.#functions, structs: this.#declarations.structs });
      const program = new Program({
        text,
        expr,
        plan: planned,
        variables: this.#variables,
        costLimit: PER_CALL_COST_LIMIT,
      });
      return { ok: true, program };
    } catch (thrown) {
      if (!(thrown instanceof PlanError)) throw thrown;
      return { ok: false, reason: 'no-program', text: thrown.message, issues: [] };
    }
  }
}

/** What a program costs at least and at most, given the bounds of its data. */
export const estimateCost = (program: Program, estimateSize?: EstimateSize): Range =>
  estimateExpression(program.expr, estimateSize);

export const createEnvironment = (options: EnvironmentOptions): Environment => new Environment(options);
