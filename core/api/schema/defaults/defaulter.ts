/** A value of a type as its defaulter sees it: decoded, so every field that is there has its type. */
export type Fields = Record<string, unknown>;

/** The Kubernetes minor that is emulated; features that became the default in between depend on it. */
export interface DefaultsContext {
  readonly minor: number;
  /** RFC 3339, for the few defaults that are the time of the request. */
  readonly now: string;
}

/** Sets what the author left out; `value` is changed in place. */
export type Defaulter = (value: Fields, context: DefaultsContext) => void;

/** Sets fields that are absent. An empty text counts as absent, as it does for Go's encoder. */
export const fill = (value: Fields, defaults: Fields): void => {
  for (const [name, fallback] of Object.entries(defaults))
    if (value[name] === undefined || value[name] === '') value[name] = fallback;
};

/** As `fill` where Go holds pointers: an empty text was said, and is left to validation. */
export const fillPointers = (value: Fields, defaults: Fields): void => {
  for (const [name, fallback] of Object.entries(defaults)) value[name] ??= fallback;
};

/** As `fill` for numbers of which zero means absent. */
export const fillNonZero = (value: Fields, defaults: Readonly<Record<string, number>>): void => {
  for (const [name, fallback] of Object.entries(defaults)) if (!value[name]) value[name] = fallback;
};

export const objectAt = (value: Fields, name: string): Fields | undefined =>
  value[name] as Fields | undefined;

/** The struct at a field, made when it is absent. */
export const ensureObject = (value: Fields, name: string): Fields => (value[name] ??= {}) as Fields;

export const listAt = (value: Fields | undefined, name: string): Fields[] =>
  (value?.[name] as Fields[] | undefined) ?? [];
