/** Forms of a message that counts; which one applies is asked of Intl.PluralRules. */
export interface PluralForms {
  readonly one: string;
  readonly other: string;
}

export type Message = string | PluralForms;

/** The names between braces in a message. */
type Placeholder<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? P | Placeholder<Rest>
  : never;

export type PlaceholderOf<M> = M extends string
  ? Placeholder<M>
  : M extends PluralForms
    ? 'count' | Placeholder<M['other']>
    : never;

/** Nothing for a message without placeholders; otherwise a value for each of them. */
export type ValuesOf<M, Value = string | number> = [PlaceholderOf<M>] extends [never]
  ? []
  : [values: Readonly<Record<PlaceholderOf<M>, Value>>];
