import { unreachable } from '../../base/assert.ts';
import { COST } from '../cost/constants.ts';
import type { Implementation } from '../values/overload.ts';
import {
  type CallExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  OPERATOR,
  type SelectExpr,
  type StructExpr,
} from '../syntax/ast.ts';
import type { StructTypes } from '../values/struct-declaration.ts';
import { doubleToInt } from '../values/integers.ts';
import { ArrayList, CelList } from '../values/lists.ts';
import { LiteralMap } from '../values/maps.ts';
import { goTypeName, printValue } from '../values/print.ts';
import { CelDouble, CelError, CelOptional, CelUint, type Value, error } from '../values/value.ts';
import {
  type Attribute,
  attributeStep,
  missingVariable,
  presenceStep,
  qualified,
  resolveStep,
} from './attributes.ts';
import { type Functions, callStep } from './calls.ts';
import { type ComprehensionSteps, type Slots, comprehensionStep, startValue } from './comprehension.ts';
import { isRegexFunction, withConstantRegex } from './constant-regex.ts';
import { Frame, type Step } from './frame.ts';
import { andStep, orStep } from './logic.ts';

/** Why a well-typed expression cannot run, such as a constant that does not convert. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}

export interface PlanOptions {
  readonly functions: Functions;
  readonly structs: StructTypes;
}

export interface Plan {
  readonly step: Step;
  readonly localCount: number;
}

/** What is known of a part before it runs. */
type Planned =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'attribute'; readonly attribute: Attribute }
  | { readonly kind: 'step'; readonly step: Step };

const CONVERSIONS = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));

const toStep = (planned: Planned): Step => {
  switch (planned.kind) {
    case 'constant': {
      const { value } = planned;
      return () => value;
    }
    case 'attribute':
      return attributeStep(planned.attribute);
    case 'step':
      return planned.step;
  }
};

const toAttribute = (planned: Planned): Attribute =>
  planned.kind === 'attribute' ? planned.attribute : { kind: 'path', base: toStep(planned), qualifiers: [] };

const constant = (value: Value): Planned => ({ kind: 'constant', value });
const step = (run: Step): Planned => ({ kind: 'step', step: run });

const isConstant = (planned: Planned): planned is Planned & { kind: 'constant' } =>
  planned.kind === 'constant';

/** A frame for parts that have no variables. */
const runConstant = (run: Step): Value => run(new Frame(() => undefined, Number.POSITIVE_INFINITY, 0));

class Planner {
  localCount = 0;
  /** Names of comprehension variables that are visible, and where they are kept. */
  #locals: ReadonlyMap<string, Step> = new Map();

  readonly options: PlanOptions;

  constructor(options: PlanOptions) {
    this.options = options;
  }

  plan(expr: Expr): Planned {
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value);
      case 'ident':
        return expr.constant === undefined ? this.#variable(expr.name) : constant(expr.constant);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return step(this.#struct(expr));
      case 'comprehension':
        return step(this.#comprehension(expr));
      default:
        return unreachable(expr, 'expression');
    }
  }

  step(expr: Expr): Step {
    return toStep(this.plan(expr));
  }

  #variable(name: string): Planned {
    const local = this.#locals.get(name);
    const missing = missingVariable(name);
    const read: Step = (frame) => {
      const value = frame.resolve(name);
      return value === undefined ? missing : value;
    };
    const base = local ?? read;
    return { kind: 'attribute', attribute: { kind: 'path', base, qualifiers: [] } };
  }

  #select(expr: SelectExpr): Planned {
    if (expr.qualified !== undefined)
      return expr.qualified.constant === undefined
        ? this.#variable(expr.qualified.name)
        : constant(expr.qualified.constant);
    const attribute = qualified(toAttribute(this.plan(expr.operand)), {
      key: expr.field,
      optional: false,
      testOnly: expr.testOnly,
    });
    return expr.testOnly ? step(presenceStep(attribute)) : { kind: 'attribute', attribute };
  }

  #call(expr: CallExpr): Planned {
    const operands = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const args = operands.map((operand) => this.plan(operand));
    switch (expr.fn) {
      case OPERATOR.and:
        return step(andStep(args.map(toStep)));
      case OPERATOR.or:
        return step(orStep(args.map(toStep)));
      case OPERATOR.conditional:
        return {
          kind: 'attribute',
          attribute: {
            kind: 'choice',
            condition: toStep(args[0]!),
            truthy: branchOf(args[1]!),
            falsy: branchOf(args[2]!),
          },
        };
      case OPERATOR.index:
        return this.#index(args, false);
      case OPERATOR.optIndex:
      case OPERATOR.optSelect:
        return this.#index(args, true);
      case OPERATOR.in:
        return this.#membership(expr, args);
      case 'or':
      case 'orValue':
        return this.#optionalOr(expr, args);
      default:
        return this.#function(expr, args);
    }
  }

  #index([operand, key]: readonly Planned[], optional: boolean): Planned {
    if (isConstant(key!) && !isPrimitive(key.value))
      throw new PlanError(`invalid qualifier type: ${goTypeName(key.value)}`);
    const attribute = qualified(toAttribute(operand!), {
      key: isConstant(key!) ? key.value : resolveStep(toAttribute(key!)),
      optional,
      testOnly: false,
    });
    return { kind: 'attribute', attribute };
  }

  /** `x in [constants]` is a lookup, which upstream does not charge. */
  #membership(expr: CallExpr, args: readonly Planned[]): Planned {
    const [element, container] = args as [Planned, Planned];
    const isList = expr.overloads?.length === 1 && expr.overloads[0]!.id === 'in_list';
    if (!isList || !isConstant(container) || !(container.value instanceof CelList))
      return this.#function(expr, args);
    const list = container.value;
    if (list.size === 0) return constant(false);
    if (!list.toArray().every(isPrimitive)) return this.#function(expr, args);
    const set = LiteralMap.of(list.toArray().flatMap(membershipKeys));
    const read = toStep(element);
    return step((frame) => {
      const value = read(frame);
      return value instanceof CelError ? value : set.find(value) !== undefined;
    });
  }

  #optionalOr(expr: CallExpr, args: readonly Planned[]): Planned {
    const ids = ['optional_or_optional', 'optional_orValue_value'];
    const only = expr.overloads?.length === 1 ? expr.overloads[0]!.id : '';
    if (args.length !== 2 || (only !== '' && !ids.includes(only))) return this.#function(expr, args);
    const [left, right] = args.map(toStep) as [Step, Step];
    const unwrap = expr.fn === 'orValue';
    return step((frame) => {
      const value = left(frame);
      if (!(value instanceof CelOptional)) return value;
      if (value.value === undefined) return right(frame);
      return unwrap ? value.value : value;
    });
  }

  #function(expr: CallExpr, args: readonly Planned[]): Planned {
    const specialized = this.#specialized(expr.fn, args[1]);
    const run = callStep(
      {
        fn: expr.fn,
        overloads: expr.overloads ?? [],
        args: args.map(toStep),
        isNonStrict: expr.fn === OPERATOR.notStrictlyFalse,
        ...(specialized === undefined ? {} : { specialized }),
      },
      this.options.functions,
    );
    if (args.length === 1 && CONVERSIONS.has(expr.fn) && isConstant(args[0]!)) {
      const value = runConstant(run);
      if (value instanceof CelError) throw new PlanError(value.message);
      return constant(value);
    }
    return step(run);
  }

  #specialized(fn: string, pattern: Planned | undefined): Implementation | undefined {
    if (!isRegexFunction(fn) || pattern === undefined || !isConstant(pattern)) return undefined;
    if (typeof pattern.value !== 'string') return undefined;
    const implementation = withConstantRegex(fn, pattern.value);
    if (implementation instanceof CelError) throw new PlanError(implementation.message);
    return implementation;
  }

  #list(expr: ListExpr): Planned {
    const planned = expr.elements.map(({ value, optional }) => ({ value: this.plan(value), optional }));
    const steps = planned.map(({ value, optional }) => ({ run: toStep(value), optional }));
    const build: Step = (frame) => {
      const values: Value[] = [];
      for (const { run, optional } of steps) {
        const value = run(frame);
        if (value instanceof CelError) return value;
        if (!optional) values.push(value);
        else if (!(value instanceof CelOptional))
          return error(
            `cannot initialize optional list element from non-optional value ${printValue(value)}`,
          );
        else if (value.value !== undefined) values.push(value.value);
      }
      return new ArrayList(values);
    };
    if (planned.every(({ value }) => isConstant(value))) return constant(runConstant(build));
    return step(charged(build, COST.listCreate));
  }

  #map(expr: MapExpr): Planned {
    const planned = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    const steps = planned.map(({ key, value, optional }) => ({
      key: toStep(key),
      value: toStep(value),
      optional,
    }));
    const build: Step = (frame) => {
      const map = new LiteralMap();
      for (const each of steps) {
        const key = each.key(frame);
        if (key instanceof CelError) return key;
        let value = each.value(frame);
        if (value instanceof CelError) return value;
        if (each.optional) {
          if (!(value instanceof CelOptional))
            return error(
              `cannot initialize optional entry '${printValue(key)}' from non-optional value ${printValue(value)}`,
            );
          if (value.value === undefined) {
            map.delete(key);
            continue;
          }
          value = value.value;
        }
        map.set(key, value);
      }
      return map;
    };
    if (planned.every(({ key, value }) => isConstant(key) && isConstant(value)))
      return constant(runConstant(build));
    return step(charged(build, COST.mapCreate));
  }

  #struct(expr: StructExpr): Step {
    const name = expr.type!.name;
    const declaration = this.options.structs(name);
    const construct = declaration?.construct;
    if (construct === undefined) throw new PlanError(`unknown type: ${name}`);
    const steps = expr.fields.map((field) => ({ ...field, run: this.step(field.value) }));
    return charged((frame) => {
      const fields = new Map<string, Value>();
      for (const field of steps) {
        let value = field.run(frame);
        if (value instanceof CelError) return value;
        if (field.optional) {
          if (!(value instanceof CelOptional))
            return error(
              `cannot initialize optional entry '${field.name}' from non-optional value ${printValue(value)}`,
            );
          if (value.value === undefined) continue;
          value = value.value;
        }
        fields.set(field.name, value);
      }
      return construct(fields);
    }, COST.structCreate);
  }

  #comprehension(expr: Expr & { kind: 'comprehension' }): Step {
    const range = this.step(expr.range);
    const init = this.step(expr.init);
    const outer = this.#locals;
    const slots: Slots = {
      accumulator: this.localCount++,
      variable: this.localCount++,
      variable2: expr.variable2 === undefined ? undefined : this.localCount++,
    };
    const readAccumulator: Step = (frame) => {
      const value = frame.locals[slots.accumulator];
      if (value !== undefined) return value;
      return (frame.locals[slots.accumulator] = startValue(init(frame), expr.accumulator));
    };
    const withAccumulator = new Map(outer).set(expr.accumulator, readAccumulator);
    const inner = new Map(withAccumulator).set(expr.variable, (frame) => frame.locals[slots.variable]!);
    if (slots.variable2 !== undefined) {
      const second = slots.variable2;
      inner.set(expr.variable2!, (frame) => frame.locals[second]!);
    }
    // The accumulator hides a variable of the same name, as it is looked up first.
    inner.set(expr.accumulator, readAccumulator);
    this.#locals = inner;
    const condition = this.step(expr.condition);
    const advance = this.step(expr.step);
    this.#locals = withAccumulator;
    const result = this.step(expr.result);
    this.#locals = outer;
    const steps: ComprehensionSteps = { range, condition, step: advance, result };
    return comprehensionStep(steps, slots);
  }
}

const branchOf = (planned: Planned): Attribute => toAttribute(planned);

/** Numbers of all types find an element of the same value. */
const membershipKeys = (value: Value): (readonly [Value, true])[] => {
  if (!(value instanceof CelDouble) || !Number.isInteger(value.value)) return [[value, true]];
  const int = doubleToInt(value.value);
  return int instanceof CelError
    ? [[value, true]]
    : [
        [value, true],
        [int, true],
      ];
};

const charged =
  (run: Step, cost: number): Step =>
  (frame) => {
    const value = run(frame);
    frame.charge(cost);
    return value;
  };

const isPrimitive = (value: Value): boolean =>
  typeof value !== 'object' || value instanceof CelDouble || value instanceof CelUint;

/** Turns a checked tree into steps. */
export const plan = (expr: Expr, options: PlanOptions): Plan => {
  const planner = new Planner(options);
  const run = planner.step(expr);
  return { step: run, localCount: planner.localCount };
};
