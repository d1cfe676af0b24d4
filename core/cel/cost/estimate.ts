import {
  ACCUMULATOR,
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  LEGACY_ACCUMULATOR,
  type SelectExpr,
} from '../syntax/ast.ts';
import { codePointCount } from '../source/text.ts';
import { type Type, isOptional } from '../types/type.ts';
import { COST } from './constants.ts';
import { estimateExtension } from './estimate-extensions.ts';
import { estimateKubernetes } from './estimate-kubernetes.ts';
import { estimateStandard } from './estimate-standard.ts';
import type { CallEstimate, CostNode, EstimateSize } from './nodes.ts';
import {
  ONE,
  type Range,
  UNKNOWN,
  UNLIMITED,
  ZERO,
  addRanges,
  fixed,
  multiplyRanges,
  scaleRange,
  unionRanges,
} from './ranges.ts';

/** Sizes of the keys or indices and of the values of a container. */
interface EntrySize {
  readonly container: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[] | undefined;
  readonly size: Range | undefined;
  readonly entrySize: EntrySize | undefined;
}

const NOTHING_YET: Range = { min: UNLIMITED, max: 0n };

const isScalar = (type: Type): boolean =>
  ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind) ||
  (isOptional(type) && isScalar(type.parameters[0]!));

const literalSize = (expr: Expr): Range | undefined => {
  switch (expr.kind as string) {
    case 'literal': {
      const { value } = expr as Expr & { kind: 'literal' };
      if (typeof value === 'string') return fixed(codePointCount(value));
      return value instanceof Uint8Array ? fixed(value.length) : ONE;
    }
    case 'list':
      return fixed((expr as Expr & { kind: 'list' }).elements.length);
    case 'map':
      return fixed((expr as Expr & { kind: 'map' }).entries.length);
    default:
      return undefined;
  }
};

const unionEntries = (a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined =>
  a === undefined || b === undefined
    ? undefined
    : { container: a.container, key: unionRanges(a.key, b.key), value: unionRanges(a.value, b.value) };

/** Walks a typed tree as cel-go does, following where data comes from. */
class Estimator {
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #entrySizes = new Map<Expr, EntrySize>();
  readonly #locals = new Map<string, Local[]>();
  readonly #estimateSize: EstimateSize;

  constructor(estimateSize: EstimateSize) {
    this.#estimateSize = estimateSize;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return ZERO;
      case 'ident':
        this.#paths.set(expr, this.#local(expr.name)?.path ?? [expr.name]);
        return ONE;
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return addRanges(fixed(COST.structCreate), ...expr.fields.map(({ value }) => this.cost(value)));
      case 'comprehension':
        return this.#isBind(expr) ? this.#bind(expr) : this.#comprehension(expr);
    }
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }
  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [local]);
    else stack.push(local);
  }
  #pop(name: string): void {
    this.#locals.get(name)!.pop();
  }

  #path(expr: Expr): readonly string[] {
    if (expr.kind === 'ident') {
      const local = this.#local(expr.name);
      if (local !== undefined) return local.path ?? [];
    }
    return this.#paths.get(expr) ?? [];
  }

  #size(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr) ?? literalSize(expr);
    if (known !== undefined) return known;
    const path = this.#path(expr);
    const estimated = path.length === 0 ? undefined : this.#estimateSize(path);
    if (estimated !== undefined) {
      this.#sizes.set(expr, estimated);
      return estimated;
    }
    if (isScalar(expr.type!)) return ONE;
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }
  #sizeOrUnknown(expr: Expr): Range {
    return this.#size(expr) ?? UNKNOWN;
  }
  #entrySize(expr: Expr): EntrySize | undefined {
    const known = this.#entrySizes.get(expr);
    if (known !== undefined) return known;
    return expr.kind === 'ident' ? this.#local(expr.name)?.entrySize : undefined;
  }
  #setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expr, size);
  }
  #setEntrySize(expr: Expr, size: EntrySize | undefined): void {
    if (size !== undefined) this.#entrySizes.set(expr, size);
  }

  #node(expr: Expr): CostNode {
    const path = this.#path(expr);
    const isHidden = path[0] === ACCUMULATOR || path[0] === LEGACY_ACCUMULATOR;
    return {
      path: isHidden || path.length === 0 ? undefined : path,
      type: expr.type!,
      expr,
      size: this.#size(expr),
    };
  }
  #nodeSize(node: CostNode): Range {
    return node.size ?? (node.path === undefined ? undefined : this.#estimateSize(node.path)) ?? UNKNOWN;
  }

  #select(expr: SelectExpr): Range {
    if (expr.qualified !== undefined) {
      this.#paths.set(expr, [expr.qualified.name]);
      return ONE;
    }
    const operand = this.cost(expr.operand);
    // Presence tests are free, so that rules can guard every access.
    if (expr.testOnly) return operand;
    const { kind } = expr.operand.type!;
    this.#paths.set(expr, [...this.#path(expr.operand), expr.field]);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? addRanges(operand, ONE) : operand;
  }

  #call(expr: CallExpr): Range {
    if (expr.fn === 'dyn') {
      const argument = expr.args[0]!;
      const cost = addRanges(ONE, this.cost(argument));
      this.#setSize(expr, this.#size(argument));
      this.#setEntrySize(expr, this.#entrySize(argument));
      return cost;
    }
    const costs = expr.args.map((argument) => this.cost(argument));
    const overloads = expr.overloads ?? [];
    if (overloads.length === 0) return ZERO;
    const args = expr.args.map((argument) => this.#node(argument));
    const targetCost = expr.target === undefined ? ZERO : this.cost(expr.target);
    const target = expr.target === undefined ? undefined : this.#node(expr.target);
    let cost = NOTHING_YET;
    let size: Range | undefined;
    for (const { id } of overloads) {
      const estimate = this.#overload(expr, id, { target, args, costs });
      cost = unionRanges(cost, estimate.cost);
      if (estimate.size !== undefined)
        size = size === undefined ? estimate.size : unionRanges(size, estimate.size);
      if (id === 'index_list' || id === 'index_map') {
        const container = expr.args[0]!;
        size = this.#entrySize(container)?.value;
        this.#paths.set(expr, [...this.#path(container), id === 'index_list' ? '@items' : '@values']);
      }
      size ??= this.#size(expr);
    }
    this.#setSize(expr, size);
    return addRanges(targetCost, cost);
  }

  #overload(
    expr: CallExpr,
    overloadId: string,
    call: { target: CostNode | undefined; args: readonly CostNode[]; costs: readonly Range[] },
  ): CallEstimate {
    const { target, args, costs } = call;
    const context = {
      fn: expr.fn,
      overloadId,
      target,
      args,
      sizeOf: (node: CostNode) => this.#nodeSize(node),
    };
    const special = estimateExtension(context) ?? estimateKubernetes(context);
    if (special !== undefined) return { ...special, cost: addRanges(special.cost, ...costs) };
    if (overloadId === 'conditional') return this.#conditional(expr, costs);
    if (['add_string', 'add_bytes', 'add_list'].includes(overloadId))
      return this.#concatenation(expr, overloadId, costs);
    return estimateStandard({
      overloadId,
      targetSize: target === undefined ? undefined : (target.size ?? UNKNOWN),
      sizes: args.map((node) => node.size ?? UNKNOWN),
      costs,
    });
  }

  #conditional(expr: CallExpr, [condition, ...branches]: readonly Range[]): CallEstimate {
    const [, truthy, falsy] = expr.args as [Expr, Expr, Expr];
    const size = unionRanges(this.#sizeOrUnknown(truthy), this.#sizeOrUnknown(falsy));
    this.#setEntrySize(expr, unionEntries(this.#entrySize(truthy), this.#entrySize(falsy)));
    return { cost: addRanges(condition!, unionRanges(branches[0]!, branches[1]!)), size };
  }

  #concatenation(expr: CallExpr, overloadId: string, costs: readonly Range[]): CallEstimate {
    const [left, right] = expr.args as [Expr, Expr];
    const size = addRanges(this.#sizeOrUnknown(left), this.#sizeOrUnknown(right));
    this.#setEntrySize(expr, unionEntries(this.#entrySize(left), this.#entrySize(right)));
    const own = overloadId === 'add_list' ? ONE : scaleRange(size, COST.stringTraversal);
    return { cost: addRanges(own, ...costs), size };
  }

  #list(expr: Expr & { kind: 'list' }): Range {
    let cost = fixed(COST.listCreate);
    let value: Range = expr.elements.length === 0 ? ZERO : NOTHING_YET;
    for (const { value: element } of expr.elements) {
      cost = addRanges(cost, this.cost(element));
      value = unionRanges(value, this.#sizeOrUnknown(element));
    }
    this.#entrySizes.set(expr, { container: 'list', key: ONE, value });
    return cost;
  }

  #map(expr: Expr & { kind: 'map' }): Range {
    let cost = fixed(COST.mapCreate);
    let key: Range = expr.entries.length === 0 ? ZERO : NOTHING_YET;
    let value = key;
    for (const entry of expr.entries) {
      cost = addRanges(cost, this.cost(entry.key), this.cost(entry.value));
      key = unionRanges(key, this.#sizeOrUnknown(entry.key));
      value = unionRanges(value, this.#sizeOrUnknown(entry.value));
    }
    this.#entrySizes.set(expr, { container: 'map', key, value });
    return cost;
  }

  #isBind({ range, condition, accumulator }: ComprehensionExpr): boolean {
    return (
      range.kind === 'list' &&
      range.elements.length === 0 &&
      condition.kind === 'literal' &&
      condition.value === false &&
      accumulator !== LEGACY_ACCUMULATOR
    );
  }

  #pushValueOf(name: string, expr: Expr): void {
    this.#push(name, {
      path: this.#path(expr),
      size: this.#size(expr),
      entrySize: this.#entrySize(expr),
    });
  }

  #bind(expr: ComprehensionExpr): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.init));
    this.#pushValueOf(expr.accumulator, expr.init);
    const result = this.cost(expr.result);
    this.#pop(expr.accumulator);
    this.#setSize(expr, this.#size(expr.result));
    this.#setEntrySize(expr, this.#entrySize(expr.result));
    return addRanges(before, result);
  }

  #pushVariables(expr: ComprehensionExpr): void {
    const entry = this.#entrySize(expr.range);
    const path = this.#path(expr.range);
    const isList = (entry?.container ?? expr.range.type!.kind) === 'list';
    const push = (name: string, part: string, size: Range | undefined): void =>
      this.#push(name, { path: [...path, part], size, entrySize: undefined });
    if (expr.variable2 === undefined)
      push(expr.variable, isList ? '@items' : '@keys', isList ? entry?.value : entry?.key);
    else {
      push(expr.variable, isList ? '@indices' : '@keys', entry?.key);
      push(expr.variable2, isList ? '@items' : '@values', entry?.value);
    }
  }

  #comprehension(expr: ComprehensionExpr): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.init));
    this.#pushValueOf(expr.accumulator, expr.init);
    this.#pushVariables(expr);
    const round = addRanges(this.cost(expr.condition), this.cost(expr.step));
    this.#pop(expr.variable);
    if (expr.variable2 !== undefined) this.#pop(expr.variable2);
    const result = this.cost(expr.result);
    this.#pop(expr.accumulator);
    const rounds = this.#sizeOrUnknown(expr.range);
    if (expr.init.kind === 'literal') this.#setSize(expr, this.#size(expr.init));
    else if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.#setSize(expr, rounds);
      this.#setEntrySize(expr, this.#entrySize(expr.step));
    }
    return addRanges(before, result, multiplyRanges(rounds, round));
  }
}

/** What an expression costs at least and at most, given the bounds of its data. */
export const estimateCost = (expr: Expr, estimateSize: EstimateSize = () => undefined): Range =>
  new Estimator(estimateSize).cost(expr);
