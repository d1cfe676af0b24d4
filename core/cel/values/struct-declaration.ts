import type { Value } from './value.ts';
import type { Type } from '../types/type.ts';

/** An object type with named fields, as expressions see it. */
export interface StructDeclaration {
  readonly type: Type;
  /** The type of a field by the name that expressions use, or undefined if there is none. */
  readonly field: (name: string) => Type | undefined;
  /** What `Name{field: value}` gives; without it the type can only be read. */
  readonly construct?: (fields: ReadonlyMap<string, Value>) => Value;
}

export type StructTypes = (name: string) => StructDeclaration | undefined;

/** The first answer of several sources. */
export const structTypesOf =
  (...sources: readonly StructTypes[]): StructTypes =>
  (name) => {
    for (const source of sources) {
      const found = source(name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
