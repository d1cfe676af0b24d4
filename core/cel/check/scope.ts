import type { Overload } from '../values/overload.ts';
import type { StructTypes } from '../values/struct-declaration.ts';
import { type Type, typeOfType } from '../types/type.ts';
import { CelType, type Value } from '../values/value.ts';

/** What an expression may refer to. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, Type>;
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  /** Types that have a name in expressions. */
  readonly types: ReadonlyMap<string, Type>;
  readonly structs: StructTypes;
}

export interface Identifier {
  readonly name: string;
  readonly type: Type;
  readonly constant?: Value;
}

const withoutLeadingDot = (name: string): string => (name.startsWith('.') ? name.slice(1) : name);

/** Variables of comprehensions around a place, the innermost first, and then what is declared. */
export class Scope {
  readonly declarations: Declarations;
  readonly parent: Scope | undefined;
  readonly locals: ReadonlyMap<string, Type>;

  constructor(declarations: Declarations, parent?: Scope, locals: ReadonlyMap<string, Type> = new Map()) {
    this.declarations = declarations;
    this.parent = parent;
    this.locals = locals;
  }

  with(locals: ReadonlyMap<string, Type>): Scope {
    return new Scope(this.declarations, this, locals);
  }

  find(written: string): Identifier | undefined {
    const name = withoutLeadingDot(written);
    const local = this.findLocal(name);
    if (local !== undefined) return { name, type: local };
    const variable = this.declarations.variables.get(name);
    if (variable !== undefined) return { name, type: variable };
    const denoted = this.declarations.structs(name)?.type ?? this.declarations.types.get(name);
    return denoted === undefined
      ? undefined
      : { name, type: typeOfType(denoted), constant: new CelType(denoted) };
  }

  findLocal(name: string): Type | undefined {
    return this.locals.get(name) ?? this.parent?.findLocal(name);
  }

  findFunction(written: string): { name: string; overloads: readonly Overload[] } | undefined {
    const name = withoutLeadingDot(written);
    const overloads = this.declarations.functions.get(name);
    return overloads === undefined ? undefined : { name, overloads };
  }
}
