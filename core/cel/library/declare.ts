import type { Macro } from '../syntax/macro.ts';
import type { Type } from '../types/type.ts';
import type { Implementation, Overload } from '../values/overload.ts';
import type { CelError, Value } from '../values/value.ts';

/**
 * Functions, types and macros that belong together. To add a function, add its overloads to a library, or a library
 * to the list in `versions.ts`; if its time depends on its arguments, say so in `cost/`.
 */
export interface Library {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * Implementations that serve all overloads of a function by looking at the values: what CEL calls with arguments
   * whose types are not known before.
   */
  readonly dispatch?: Readonly<Record<string, Implementation>>;
  readonly macros?: readonly Macro[];
  /** Types that expressions may name. */
  readonly types?: readonly Type[];
}

const collectParameters = (type: Type, into: Set<string>): void => {
  if (type.kind === 'param') into.add(type.name);
  for (const parameter of type.parameters) collectParameters(parameter, into);
};

const declare = (
  isMember: boolean,
  [fn, id, parameters, result]: Signature,
  implementation: Implementation | undefined,
): Overload => {
  const names = new Set<string>();
  for (const type of [...parameters, result]) collectParameters(type, names);
  return { id, fn, isMember, parameters, result, typeParameters: [...names], implementation };
};

/** Function, id of the overload, types of the arguments (receiver first), type of the result. */
export type Signature = readonly [fn: string, id: string, parameters: readonly Type[], result: Type];

/** Arguments have the declared types when an implementation runs; the types say so to the compiler. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- narrowed by the guard that the signature generates
export type Typed = (...args: any[]) => Value | CelError;

export const global = (signature: Signature, implementation?: Typed): Overload =>
  declare(false, signature, implementation);
export const member = (signature: Signature, implementation?: Typed): Overload =>
  declare(true, signature, implementation);
