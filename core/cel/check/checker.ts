import { TYPE_SIZE_MAX } from '../bounds.ts';
import type { Overload } from '../values/overload.ts';
import type { Issues } from '../source/issues.ts';
import { NO_LOCATION } from '../source/text.ts';
import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  type ListExpr,
  type MapExpr,
  OPERATOR,
  type SelectExpr,
  type StructExpr,
  childrenOf,
} from '../syntax/ast.ts';
import {
  Bindings,
  Settlement,
  TypeWorkExceeded,
  assign,
  assignAll,
  isSame,
  mostGeneral,
  rename,
  substitute,
} from '../types/substitution.ts';
import {
  BOOL,
  DYN,
  ERROR,
  INT,
  type Type,
  formatSignature,
  formatType,
  isDyn,
  isDynOrError,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
  param,
} from '../types/type.ts';
import { typeOf } from '../values/value.ts';
import { type Declarations, Scope } from './scope.ts';

const bounded = (type: Type): Type => {
  if (type.size > TYPE_SIZE_MAX) throw new TypeWorkExceeded(`a type has more than ${TYPE_SIZE_MAX} parts`);
  return type;
};

class Checker {
  #scope: Scope;
  readonly #bound = new Bindings();
  readonly #names = new Map<Expr, string | undefined>();
  #freshCount = 0;

  readonly issues: Issues;

  constructor(declarations: Declarations, issues: Issues) {
    this.issues = issues;
    this.#scope = new Scope(declarations);
  }

  /** Gives every node its type, with type parameters that nothing bound as dyn. */
  run(root: Expr): void {
    this.#check(root);
    const settlement = new Settlement(this.#bound);
    const settle = (expr: Expr): void => {
      expr.type = bounded(settlement.settle(expr.type ?? ERROR));
      for (const child of childrenOf(expr)) settle(child);
    };
    settle(root);
  }

  #check(expr: Expr): Type {
    return (expr.type = bounded(this.#typeOf(expr)));
  }

  #typeOf(expr: Expr): Type {
    switch (expr.kind) {
      case 'literal':
        return typeOf(expr.value);
      case 'ident': {
        const found = this.#scope.find(expr.name);
        if (found === undefined) return this.#undeclared(expr, expr.name);
        expr.name = found.name;
        if (found.constant !== undefined) expr.constant = found.constant;
        return found.type;
      }
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct':
        return this.#struct(expr);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #report(expr: { readonly offset: number }, message: string): Type {
    this.issues.reportAt(expr.offset, message);
    return ERROR;
  }
  #undeclared(expr: Expr, name: string): Type {
    return this.#report(expr, `undeclared reference to '${name}' (in container '')`);
  }
  #mismatch(expr: Expr, expected: Type, found: Type): Type {
    return this.#report(expr, `expected type '${this.#text(expected)}' but found '${this.#text(found)}'`);
  }

  #text(type: Type): string {
    this.#bound.spend(type.size);
    return formatType(type);
  }

  #assign(a: Type, b: Type): boolean {
    return assign(this.#bound, a, b);
  }
  #fresh(): Type {
    return param(`_var${this.#freshCount++}`);
  }
  #resolved(type: Type): Type {
    return substitute(this.#bound, type);
  }

  #select(expr: SelectExpr): Type {
    const name = this.#nameOf(expr);
    const found = name === undefined ? undefined : this.#scope.find(name);
    if (found !== undefined) {
      expr.qualified = found;
      return found.type;
    }
    const type = this.#fieldType(expr, expr.operand, expr.field, false);
    return expr.testOnly ? BOOL : this.#resolved(type);
  }

  /** `a.b.c` as one name, if the expression is nothing but a name. Each select of a chain is read once. */
  #nameOf(expr: Expr): string | undefined {
    if (expr.kind === 'ident') return expr.name;
    if (expr.kind !== 'select' || expr.testOnly) return undefined;
    if (this.#names.has(expr)) return this.#names.get(expr);
    const prefix = this.#nameOf(expr.operand);
    const name = prefix === undefined ? undefined : `${prefix}.${expr.field}`;
    this.#names.set(expr, name);
    return name;
  }

  #fieldType(expr: Expr, operand: Expr, field: string, isOptionalSelection: boolean): Type {
    const operandType = this.#resolved(this.#check(operand));
    const wrapped = isOptional(operandType);
    const target = wrapped ? operandType.parameters[0]! : operandType;
    const type = this.#memberType(expr, target, field);
    return wrapped || isOptionalSelection ? optionalOf(type) : type;
  }

  #memberType(expr: Expr, target: Type, field: string): Type {
    switch (target.kind as string) {
      case 'map':
        return target.parameters[1]!;
      case 'struct':
        return this.#structField(expr, target.name, field);
      case 'param':
        this.#assign(DYN, target);
        return DYN;
      default:
        if (!isDynOrError(target))
          this.#report(expr, `type '${this.#text(target)}' does not support field selection`);
        return DYN;
    }
  }

  #structField(at: { readonly offset: number }, struct: string, field: string): Type {
    const declaration = this.#scope.declarations.structs(struct);
    if (declaration === undefined) return this.#report(at, `unexpected failed resolution of '${struct}'`);
    return declaration.field(field) ?? this.#report(at, `undefined field '${field}'`);
  }

  #call(expr: CallExpr): Type {
    if (expr.fn === OPERATOR.optSelect) {
      const [operand, field] = expr.args;
      const name = field!.kind === 'literal' && typeof field!.value === 'string' ? field!.value : '';
      this.#check(field!);
      const type = this.#resolved(this.#fieldType(expr, operand!, name, true));
      expr.overloads = this.#scope.findFunction(expr.fn)?.overloads ?? [];
      return type;
    }
    for (const argument of expr.args) this.#check(argument);
    if (expr.target === undefined) {
      const found = this.#scope.findFunction(expr.fn);
      if (found === undefined) return this.#undeclared(expr, expr.fn);
      expr.fn = found.name;
      return this.#resolve(expr, found.overloads);
    }
    const prefix = this.#nameOf(expr.target);
    const qualified = prefix === undefined ? undefined : this.#scope.findFunction(`${prefix}.${expr.fn}`);
    if (qualified !== undefined) {
      expr.fn = qualified.name;
      expr.target = undefined;
      return this.#resolve(expr, qualified.overloads);
    }
    this.#check(expr.target);
    const found = this.#scope.findFunction(expr.fn);
    return found === undefined ? this.#undeclared(expr, expr.fn) : this.#resolve(expr, found.overloads);
  }

  #resolve(expr: CallExpr, overloads: readonly Overload[]): Type {
    const operands = expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    const types = operands.map((operand) => operand.type!);
    if (expr.fn === OPERATOR.and || expr.fn === OPERATOR.or) return this.#logic(expr, overloads);
    const admitted: Overload[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== (expr.target !== undefined)) continue;
      const renamed = new Map(overload.typeParameters.map((name) => [name, this.#fresh()]));
      const parameters =
        renamed.size === 0 ? overload.parameters : overload.parameters.map((type) => rename(renamed, type));
      if (!assignAll(this.#bound, types, parameters)) continue;
      admitted.push(overload);
      const type = this.#resolved(renamed.size === 0 ? overload.result : rename(renamed, overload.result));
      if (result === undefined) result = type;
      else if (!isDyn(result) && !isSame(this.#bound, type, result)) result = DYN;
    }
    if (result === undefined) {
      const settlement = new Settlement(this.#bound);
      const settled = types.map((type) => settlement.settle(type));
      for (const type of settled) this.#bound.spend(type.size);
      return this.#report(
        expr,
        `found no matching overload for '${expr.fn}' applied to '${formatSignature(settled, expr.target !== undefined)}'`,
      );
    }
    expr.overloads = admitted;
    return result;
  }

  #logic(expr: CallExpr, overloads: readonly Overload[]): Type {
    let isValid = true;
    for (const argument of expr.args)
      if (!this.#assign(argument.type!, BOOL)) {
        this.#mismatch(argument, BOOL, argument.type!);
        isValid = false;
      }
    expr.overloads = overloads;
    return isValid ? BOOL : ERROR;
  }

  /** The type that an optional element or entry adds, which has to be an optional. */
  #unwrapped(value: Expr, type: Type): Type {
    if (isOptional(type)) return type.parameters[0]!;
    if (!isDyn(type)) this.#mismatch(value, optionalOf(type), type);
    return type;
  }

  #list({ elements }: ListExpr): Type {
    let joined: Type | undefined;
    for (const { value, optional } of elements) {
      const type = this.#check(value);
      joined = this.#join(joined, optional ? this.#unwrapped(value, type) : type);
    }
    return listOf(joined ?? this.#fresh());
  }

  #map({ entries }: MapExpr): Type {
    let keys: Type | undefined;
    let values: Type | undefined;
    for (const { key, value, optional } of entries) {
      keys = this.#join(keys, this.#check(key));
      const type = this.#check(value);
      values = this.#join(values, optional ? this.#unwrapped(value, type) : type);
    }
    return mapOf(keys ?? this.#fresh(), values ?? this.#fresh());
  }

  #join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current;
    if (this.#assign(previous, current)) return mostGeneral(this.#bound, previous, current);
    return DYN;
  }

  #struct(expr: StructExpr): Type {
    const found = this.#scope.find(expr.typeName);
    if (found === undefined) return this.#undeclared(expr, expr.typeName);
    let type = ERROR;
    if (found.type.kind !== 'type') this.#report(expr, `'${found.type.name}' is not a type`);
    else {
      const denoted = found.type.parameters[0]!;
      if (denoted.kind === 'struct') type = denoted;
      else this.#report(expr, `'${denoted.name}' is not a message type`);
    }
    for (const { offset, name, value, optional } of expr.fields) {
      const given = this.#check(value);
      const expected = type.kind === 'struct' ? this.#structField({ offset }, type.name, name) : ERROR;
      const valueType = optional ? this.#unwrapped(value, given) : given;
      if (!this.#assign(expected, valueType))
        this.#report(
          { offset },
          `expected type of field '${name}' is '${this.#text(expected)}' but provided type is '${this.#text(valueType)}'`,
        );
    }
    return type;
  }

  #comprehension(expr: ComprehensionExpr): Type {
    const range = this.#resolved(this.#check(expr.range));
    const accumulator = this.#check(expr.init);
    const outer = this.#scope;
    const withAccumulator = outer.with(new Map([[expr.accumulator, accumulator]]));
    const [first, second] = this.#variableTypes(expr, range);
    const locals = new Map([[expr.variable, first]]);
    if (expr.variable2 !== undefined) locals.set(expr.variable2, second);
    this.#scope = withAccumulator.with(locals);
    const condition = this.#check(expr.condition);
    if (!this.#assign(BOOL, condition)) this.#mismatch(expr.condition, BOOL, condition);
    const step = this.#check(expr.step);
    if (!this.#assign(accumulator, step)) this.#mismatch(expr.step, accumulator, step);
    this.#scope = withAccumulator;
    const result = this.#check(expr.result);
    this.#scope = outer;
    return this.#resolved(result);
  }

  /** Element, or index and element of a list; key, or key and value of a map. */
  #variableTypes(expr: ComprehensionExpr, range: Type): readonly [Type, Type] {
    switch (range.kind as string) {
      case 'list':
        return expr.variable2 === undefined ? [range.parameters[0]!, DYN] : [INT, range.parameters[0]!];
      case 'map':
        return [range.parameters[0]!, range.parameters[1]!];
      case 'dyn':
      case 'error':
      case 'param':
        this.#assign(DYN, range);
        return [DYN, DYN];
      default:
        this.#report(
          expr.range,
          `expression of type '${this.#text(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }
}

/** Gives the nodes of a tree their types, overloads and references, or reports why they have none. */
export const check = (root: Expr, declarations: Declarations, issues: Issues): void => {
  try {
    new Checker(declarations, issues).run(root);
  } catch (thrown) {
    if (!(thrown instanceof TypeWorkExceeded)) throw thrown;
    issues.report(NO_LOCATION, thrown.message);
  }
};
