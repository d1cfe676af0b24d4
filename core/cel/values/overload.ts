import type { Type } from '../types/type.ts';
import type { Value } from './value.ts';

export type Implementation = (...args: Value[]) => Value;

/** One signature of a function. */
export interface Overload {
  /** As upstream names it: cost models and policies of what is allowed refer to it. */
  readonly id: string;
  readonly fn: string;
  readonly isMember: boolean;
  /** With the receiver first. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  /** Names of type parameters in the signature. */
  readonly typeParameters: readonly string[];
  readonly implementation: Implementation | undefined;
}
