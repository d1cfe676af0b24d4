import type { FieldErrorList } from './field-error.ts';
import type { NameCheck } from './formats.ts';
import type { Obj } from './read.ts';

/** How one kind is validated, after defaults have been filled in. */
export interface KindRules {
  readonly namespaced: boolean;
  readonly name: NameCheck;
  create(object: Obj): FieldErrorList;
  update(object: Obj, before: Obj): FieldErrorList;
  /** The status subresource; without it only metadata is checked. */
  updateStatus?(object: Obj, before: Obj): FieldErrorList;
}
