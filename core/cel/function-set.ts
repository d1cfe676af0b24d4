import type { Functions } from './evaluate/calls.ts';
import type { Library } from './library/declare.ts';
import type { Implementation, Overload } from './values/overload.ts';
import { type Macro, macroKey } from './syntax/macro.ts';
import { STANDARD_MACROS } from './syntax/macros.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  LIST,
  MAP,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  type Type,
  UINT,
} from './types/type.ts';
import { type Version, librariesOf } from './versions.ts';

/** What libraries add up to. */
export interface FunctionSet extends Functions {
  readonly macros: ReadonlyMap<string, Macro>;
  /** Types that expressions may name. */
  readonly types: ReadonlyMap<string, Type>;
}

const NAMED_TYPES = [BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT];

const combine = (libraries: readonly Library[]): FunctionSet => {
  const overloads = new Map<string, Overload[]>();
  for (const overload of libraries.flatMap((library) => library.overloads)) {
    const known = overloads.get(overload.fn);
    if (known === undefined) overloads.set(overload.fn, [overload]);
    else known.push(overload);
  }
  const macros = [...STANDARD_MACROS, ...libraries.flatMap((library) => library.macros ?? [])];
  const types = [...NAMED_TYPES, ...libraries.flatMap((library) => library.types ?? [])];
  return {
    overloads,
    dispatch: new Map(libraries.flatMap(({ dispatch }) => Object.entries<Implementation>(dispatch ?? {}))),
    macros: new Map(macros.map((macro) => [macroKey(macro.name, macro.arity, macro.isMember), macro])),
    types: new Map(types.map((type) => [type.name, type])),
  };
};

/** One per version: a server has thousands of environments, which differ in their variables only. */
const shared = new Map<Version, FunctionSet>();

export const functionSetOf = (version: Version, libraries: readonly Library[] = []): FunctionSet => {
  if (libraries.length > 0) return combine([...librariesOf(version), ...libraries]);
  const known = shared.get(version);
  if (known !== undefined) return known;
  const made = combine(librariesOf(version));
  shared.set(version, made);
  return made;
};
