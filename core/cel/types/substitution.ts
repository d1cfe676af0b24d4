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

/** What type parameters stand for, by name. */
export type Substitution = Pick<ReadonlyMap<string, Type>, 'get'>;

/** Bindings found so far. A failed attempt is undone by its trail: copying them for each attempt would be quadratic. */
export class Bindings {
  readonly #types = new Map<string, Type>();
  readonly #trail: (readonly [string, Type | undefined])[] = [];

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
type Draft = Bindings;

/** Replaces bound parameters; unbound ones become dyn when `unboundToDyn` is set. */
export const substitute = (bound: Substitution, type: Type, unboundToDyn: boolean): Type => {
  if (type.kind === 'param') {
    const found = bound.get(type.name);
    if (found !== undefined) return substitute(bound, found, unboundToDyn);
    return unboundToDyn ? DYN : type;
  }
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((parameter) => substitute(bound, parameter, unboundToDyn));
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

const isEqualOrLessSpecific = (a: Type, b: Type): boolean => {
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
        a.parameters.every((parameter, at) => isEqualOrLessSpecific(parameter, b.parameters[at]!))
      );
    case 'type':
      return true;
    default:
      return isExactType(a, b);
  }
};

/** Of two types that unify, the one that covers more. */
export const mostGeneral = (a: Type, b: Type): Type => (isEqualOrLessSpecific(a, b) ? a : b);

const occursIn = (bound: Draft, type: Type, within: Type): boolean => {
  if (isExactType(type, within)) return true;
  if (within.kind === 'param') {
    const found = bound.get(within.name);
    return found !== undefined && occursIn(bound, type, found);
  }
  return within.parameters.some((parameter) => occursIn(bound, type, parameter));
};

/** Whether `parameter` can stand for `type`, and whether it was bound before. */
const bind = (bound: Draft, type: Type, parameter: Type): { valid: boolean; wasBound: boolean } => {
  if (type.kind === parameter.kind && isExactType(type, parameter)) return { valid: true, wasBound: true };
  const found = bound.get(parameter.name);
  if (found !== undefined) {
    if (isExactType(type, found)) return { valid: true, wasBound: true };
    if (!unify(bound, type, found)) return { valid: false, wasBound: true };
    const general = mostGeneral(type, found);
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

const unifyAll = (bound: Draft, a: readonly Type[], b: readonly Type[]): boolean =>
  a.length === b.length && a.every((type, at) => unify(bound, type, b[at]!));

const unify = (bound: Draft, a: Type, b: Type): boolean => {
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
      return isExactType(a, b);
  }
};

/** Whether every `a[i]` can be used as `b[i]`; if so, binds the parameters that this needs. */
export const assignAll = (bindings: Bindings, a: readonly Type[], b: readonly Type[]): boolean =>
  bindings.attempt(() => unifyAll(bindings, a, b));

export const assign = (bindings: Bindings, a: Type, b: Type): boolean =>
  bindings.attempt(() => unify(bindings, a, b));
