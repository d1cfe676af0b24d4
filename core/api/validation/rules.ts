import type { FieldErrorList } from '../field/field-error.ts';
import type { NameCheck } from '../field/formats.ts';
import type { Release } from '../releases/release.ts';
import type { Obj } from './read.ts';

/** How one kind is validated, after defaults have been filled in. */
export interface KindRules {
  readonly namespaced: boolean;
  readonly name: NameCheck;
  /** As a release has it; the newest unless named. */
  create(object: Obj, release?: Release): FieldErrorList;
  update(object: Obj, before: Obj): FieldErrorList;
  /** Writes through subresources; for one that is not named here only metadata is checked. */
  readonly subresources?: Readonly<Record<string, (object: Obj, before: Obj) => FieldErrorList>>;
}
