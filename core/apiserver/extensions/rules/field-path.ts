import { child, key } from '../../../api/field/field-path.ts';
import type { Structural } from '../structural/structural.ts';

const TOKENS = /\.|\[|\]|'(?:[^'\\]|\\.)*'|[^.[\]']+/gs;
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

export type FieldPathResult =
  { readonly path: string; readonly schema: Structural } | { readonly problem: string };

const unquote = (token: string | undefined): string | undefined => {
  if (token === undefined || token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
    return undefined;
  let isValid = true;
  const text = token.slice(1, -1).replaceAll(/\\(.)/gs, (_match, letter: string) => {
    const meant = ESCAPES[letter];
    isValid &&= meant !== undefined;
    return meant ?? '';
  });
  return isValid ? text : undefined;
};

/** Follows a path of fields and keys through a schema, as rules and selectable fields write it: `.spec.ports['a']`. */
export const followFieldPath = (
  text: string,
  root: Structural,
  { allowsKeys = true }: { readonly allowsKeys?: boolean } = {},
): FieldPathResult => {
  const tokens = text.match(TOKENS) ?? [];
  let path = '';
  let schema = root;
  let at = 0;
  const enter = (name: string): string | undefined => {
    if (schema.properties.size > 0) {
      const property = schema.properties.get(name);
      if (!property) return 'does not refer to a valid field';
      [path, schema] = [child(path, name), property];
      return undefined;
    }
    if (!schema.values) return 'does not refer to a valid field';
    [path, schema] = [key(path, name), schema.values];
    return undefined;
  };
  while (at < tokens.length) {
    const token = tokens[at++];
    let problem: string | undefined;
    if (token === '.') {
      const name = tokens[at++];
      problem = name === undefined ? 'unexpected end of JSON path' : enter(name);
    } else if (token === '[') {
      if (!allowsKeys) return { problem: 'array notation is not allowed' };
      if (at >= tokens.length) return { problem: 'unexpected end of JSON path' };
      const quoted = tokens[at++];
      const name = unquote(quoted);
      if (name === undefined) return { problem: `expected single quoted string but got ${quoted ?? ''}` };
      problem = enter(name);
      if (problem === undefined && tokens[at++] !== ']') problem = 'unexpected end of JSON path';
    } else problem = `expected [ or . but got: ${token ?? ''}`;
    if (problem !== undefined) return { problem };
  }
  return { path, schema };
};
