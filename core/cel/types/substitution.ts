import { TYPE_STEPS_MAX } from '../bounds.ts';
import {
  DYN,
  type Type,
  isDyn,
  isDynOrError,
  isExactType,
  listOf,
  mapOf,
  opaqueOf,
  typeOfType,
} from './type.ts';

/** Thrown when comparing the types of an expression takes more steps than any honest one needs. */
export class TypeWorkExceeded extends Error {
  override readonly name = 'TypeWorkExceeded';
}

/** Bindings found so far. A failed attempt is undone by its trail: copying them for each attempt would be quadratic. */
export class Bindings {
  readonly #types = new Map<string, Type>();
  readonly #trail: (readonly [string, Type | undefined])[] = [];
  #stepsLeft = TYPE_STEPS_MAX;

  /** Counts types that are visited: those that share parts have exponentially many. */
  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0)
      throw new TypeWorkExceeded(`checking types takes more than ${TYPE_STEPS_MAX} steps`);
  }

  get(name: string): Type | undefined {
    return this.#types.get(name);
  }
  set(name: string, type: Type): void {
    this.#trail.push([name, this.#types.get(name)]);
    this.#types.set(name, type);
  }
  /** Keeps what `run` bound only if it succeeds. */
  attempt(run: () => boolean): boolean {
    const isDone = run();
    if (!isDone)
      for (let undo = this.#trail.pop(); undo !== undefined; undo = this.#trail.pop()) {
        if (undo[1] === undefined) this.#types.delete(undo[0]);
        else this.#types.set(undo[0], undo[1]);
      }
    this.#trail.length = 0;
    return isDone;
  }
}
const withParameters = (type: Type, parameters: readonly Type[]): Type => {
  switch (type.kind as string) {
    case 'list':
      return listOf(parameters[0]!);
    case 'map':
      return mapOf(parameters[0]!, parameters[1]!);
    case 'type':
      return typeOfType(parameters[0]!);
    default:
      return opaqueOf(type.name, ...parameters);
  }
};

/** Gives the parameters of a declared type new names. */
export const rename = (names: ReadonlyMap<string, Type>, type: Type): Type => {
  if (!type.isOpen) return type;
  if (type.kind === 'param') return names.get(type.name) ?? type;
  return withParameters(
    type,
    type.parameters.map((parameter) => rename(names, parameter)),
  );
};

/** Replaces bound parameters, as far as they are bound now. */
export const substitute = (bound: Bindings, type: Type): Type => {
  if (!type.isOpen) return type;
  bound.spend(1);
  if (type.kind === 'param') {
    const found = bound.get(type.name);
    return found === undefined ? type : substitute(bound, found);
  }
  return withParameters(
    type,
    type.parameters.map((parameter) => substitute(bound, parameter)),
  );
};

/** Replaces all parameters, unbound ones by dyn. Each type is replaced once, so bindings must not change any more. */
export class Settlement {
  readonly #bound: Bindings;
  readonly #settled = new Map<Type, Type>();

  constructor(bound: Bindings) {
    this.#bound = bound;
  }

  settle(type: Type): Type {
    if (!type.isOpen) return type;
    const known = this.#settled.get(type);
    if (known !== undefined) return known;
    const settled = this.#replace(type);
    this.#settled.set(type, settled);
    return settled;
  }

  #replace(type: Type): Type {
    if (type.kind !== 'param')
      return withParameters(
        type,
        type.parameters.map((parameter) => this.settle(parameter)),
      );
    const found = this.#bound.get(type.name);
    return found === undefined ? DYN : this.settle(found);
  }
}

/** Whether two types are the same; costs as many steps as they have parts in common. */
export const isSame = (bound: Bindings, a: Type, b: Type): boolean => {
  if (a === b) return true;
  if (a.kind !== b.kind || a.size !== b.size) return false;
  bound.spend(a.size);
  return isExactType(a, b);
};

const isEqualOrLessSpecific = (bound: Bindings, a: Type, b: Type): boolean => {
  bound.spend(1);
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (a.kind !== b.kind) return false;
  switch (a.kind as string) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.parameters.length === b.parameters.length &&
        a.parameters.every((parameter, at) => isEqualOrLessSpecific(bound, parameter, b.parameters[at]!))
      );
    case 'type':
      return true;
    default:
      return isSame(bound, a, b);
  }
};

/** Of two types that unify, the one that covers more. */
export const mostGeneral = (bound: Bindings, a: Type, b: Type): Type =>
  isEqualOrLessSpecific(bound, a, b) ? a : b;

/** A parameter occurs in types with parameters only. */
const occursIn = (bound: Bindings, parameter: Type, within: Type): boolean => {
  if (!within.isOpen) return false;
  bound.spend(1);
  if (within.kind === 'param') {
    if (within.name === parameter.name) return true;
    const found = bound.get(within.name);
    return found !== undefined && occursIn(bound, parameter, found);
  }
  return within.parameters.some((part) => occursIn(bound, parameter, part));
};

/** Whether `parameter` can stand for `type`, and whether it was bound before. */
const bind = (bound: Bindings, type: Type, parameter: Type): { valid: boolean; wasBound: boolean } => {
  if (isSame(bound, type, parameter)) return { valid: true, wasBound: true };
  const found = bound.get(parameter.name);
  if (found !== undefined) {
    if (isSame(bound, type, found)) return { valid: true, wasBound: true };
    if (!unify(bound, type, found)) return { valid: false, wasBound: true };
    const general = mostGeneral(bound, type, found);
    if (!occursIn(bound, parameter, general)) bound.set(parameter.name, general);
    return { valid: true, wasBound: true };
  }
  if (occursIn(bound, parameter, type)) return { valid: false, wasBound: false };
  bound.set(parameter.name, type);
  return { valid: true, wasBound: false };
};

const isNullable = (type: Type): boolean =>
  type.kind === 'null' ||
  type.kind === 'opaque' ||
  type.kind === 'struct' ||
  type.kind === 'timestamp' ||
  type.kind === 'duration';

const unifyAll = (bound: Bindings, a: readonly Type[], b: readonly Type[]): boolean =>
  a.length === b.length && a.every((type, at) => unify(bound, type, b[at]!));

const unify = (bound: Bindings, a: Type, b: Type): boolean => {
  if (a === b && !a.isOpen && a.kind !== 'error') return true;
  bound.spend(1);
  if (b.kind === 'param') {
    const { valid, wasBound } = bind(bound, a, b);
    if (valid || wasBound) return valid;
  }
  if (a.kind === 'param') return bind(bound, b, a).valid;
  if (isDynOrError(a) || isDynOrError(b)) return true;
  if (a.kind === 'null') return isNullable(b);
  if (b.kind === 'null') return isNullable(a);
  switch (a.kind as string) {
    case 'type':
      return b.kind === 'type';
    case 'opaque':
    case 'list':
    case 'map':
      return a.kind === b.kind && a.name === b.name && unifyAll(bound, a.parameters, b.parameters);
    default:
      return isSame(bound, a, b);
  }
};

/** Whether every `a[i]` can be used as `b[i]`; if so, binds the parameters that this needs. */
export const assignAll = (bindings: Bindings, a: readonly Type[], b: readonly Type[]): boolean =>
  bindings.attempt(() => unifyAll(bindings, a, b));

export const assign = (bindings: Bindings, a: Type, b: Type): boolean =>
  bindings.attempt(() => unify(bindings, a, b));
