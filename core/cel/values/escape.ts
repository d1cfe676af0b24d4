const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const UNESCAPES: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' };

/** The name that expressions use for a property; undefined if they cannot name it. */
export const escapeName = (name: string): string | undefined => {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (found) => ESCAPES[found]!);
};

/** The property that a name in an expression denotes; undefined if the name is not well formed. */
export const unescapeName = (escaped: string): string | undefined => {
  if (!escaped.includes('__')) return escaped;
  let isValid = true;
  const name = escaped.replace(/__[^_]+__/g, (found) => {
    const inner = found.slice(2, -2);
    if (Object.hasOwn(UNESCAPES, inner)) return UNESCAPES[inner]!;
    if (!RESERVED.has(inner) || found.length !== escaped.length) isValid = false;
    return inner;
  });
  return isValid ? name : undefined;
};
