/** Where the cursor stands in a YAML text that is being written, and is therefore rarely valid: by indentation alone. */

/** A key of a mapping, or a place in a list. */
export type Step = string | typeof ITEM;
export const ITEM = Symbol('item');

export interface YamlPosition {
  /** From the root of the document to the mapping, list or scalar that the cursor is in. */
  readonly path: readonly Step[];
  readonly place: 'key' | 'value';
  /** Column of the first character of what is typed, counted from zero. */
  readonly column: number;
  /** What is typed up to the cursor. */
  readonly typed: string;
  /** What follows the cursor in this line. */
  readonly rest: string;
  /** Keys that the mapping has already, without the one that is typed. */
  readonly siblings: readonly string[];
  /** Scalars at the root of the document: `apiVersion` and `kind` decide about everything else. */
  readonly root: ReadonlyMap<string, string>;
}

interface Line {
  /** Columns of the dashes that open list items. */
  readonly dashes: readonly number[];
  /** Where the content after indentation and dashes begins. */
  readonly column: number;
  readonly key: string | undefined;
  readonly value: string;
}

const LINE = /^(\s*)((?:-\s+|-$)*)(.*)$/;
const KEY = /^("[^"]*"|'[^']*'|[^\s#:{}[\],&*?|>'"%@`-][^:#]*?|[^\s:]+?)\s*:(?:\s+(.*))?$/;
const BLOCK_SCALAR = /^[|>][-+\d]*(\s+#.*)?$/;
const FLOW = /^[{[]/;

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2');
const withoutComment = (text: string): string => text.replace(/(^|\s)#.*$/, '').trim();

const readLine = (text: string): Line | undefined => {
  const [, indent = '', marks = '', content = ''] = LINE.exec(text) ?? [];
  const dashes = [...marks.matchAll(/-/g)].map(({ index }) => indent.length + index);
  if (dashes.length === 0 && (content === '' || content.startsWith('#'))) return undefined;
  const [, key, value = ''] = KEY.exec(content) ?? [];
  return {
    dashes,
    column: indent.length + marks.length,
    key: key === undefined ? undefined : unquoted(key),
    value: withoutComment(key === undefined ? content : value),
  };
};

const isSeparator = (line: string): boolean => /^---(\s|$)/.test(line);

/** The lines of the document around a line, and the line's place in them. */
const documentAround = (lines: readonly string[], at: number): { lines: readonly string[]; at: number } => {
  let from = at;
  while (from > 0 && !isSeparator(lines[from - 1]!)) from -= 1;
  let to = at + 1;
  while (to < lines.length && !isSeparator(lines[to]!)) to += 1;
  return { lines: lines.slice(from, to), at: at - from };
};

/** Undefined inside of a block scalar or of a mapping or list in braces. */
const pathAbove = (
  lines: readonly (Line | undefined)[],
  at: number,
  column: number,
): readonly Step[] | undefined => {
  const path: Step[] = [];
  let below = column;
  /** A list may stand in the column of the key that it belongs to. */
  let isList = false;
  for (let index = at; index >= 0; index -= 1) {
    const line = lines[index];
    if (!line) continue;
    const isParent = (place: number): boolean => (isList ? place <= below : place < below);
    if (index < at && line.key !== undefined && isParent(line.column)) {
      if (BLOCK_SCALAR.test(line.value) || FLOW.test(line.value)) return undefined;
      path.unshift(line.key);
      below = line.column;
      isList = false;
    }
    for (const dash of [...line.dashes].reverse())
      if (dash < below) {
        path.unshift(ITEM);
        below = dash;
        isList = true;
      }
    if (below === 0 && !isList) break;
  }
  return path;
};

/** Keys of the mapping that begins or continues at `column`, above and below a line. */
const siblingsOf = (lines: readonly (Line | undefined)[], at: number, column: number): readonly string[] => {
  const found: string[] = [];
  const walk = (step: 1 | -1): void => {
    for (let index = at; index >= 0 && index < lines.length; index += step) {
      const line = lines[index];
      if (!line) continue;
      const start = line.dashes[0] ?? line.column;
      const opensItem = line.dashes.length > 0 && line.column === column;
      if (step === 1 && index > at && (start < column || opensItem)) return;
      if (index !== at && line.column === column && line.key !== undefined) found.push(line.key);
      if (step === -1 && (opensItem || (index < at && start < column))) return;
    }
  };
  walk(-1);
  walk(1);
  return found;
};

const rootOf = (lines: readonly (Line | undefined)[]): ReadonlyMap<string, string> =>
  new Map(
    lines.flatMap((line) =>
      line && line.column === 0 && line.key !== undefined ? [[line.key, unquoted(line.value)] as const] : [],
    ),
  );

/** Line and column are counted from zero. Undefined where nothing of a schema can be written. */
export const positionAt = (text: string, lineIndex: number, column: number): YamlPosition | undefined => {
  const around = documentAround(text.split(/\r?\n/), lineIndex);
  const current = around.lines[around.at] ?? '';
  const before = current.slice(0, column);
  if (isSeparator(current) || /(^|\s)#/.test(before)) return undefined;
  const lines = around.lines.map(readLine);
  const [, indent = '', marks = '', content = ''] = LINE.exec(before) ?? [];
  const start = indent.length + marks.length;
  const dashes = [...marks.matchAll(/-/g)].map(({ index }) => indent.length + index);
  // As it is up to the cursor: what follows is replaced or kept, but decides nothing.
  const typedLine: Line = { dashes, column: start, key: undefined, value: '' };
  const path = pathAbove([...lines.slice(0, around.at), typedLine], around.at, start);
  if (!path) return undefined;
  const shared = { rest: current.slice(column), root: rootOf(lines) };
  const [, key, value] = /^([^\s:#]+):\s+(.*)$/.exec(content) ?? [];
  if (key !== undefined && value !== undefined) {
    if (FLOW.test(value)) return undefined;
    const own = [...path, unquoted(key)];
    return {
      ...shared,
      path: own,
      place: 'value',
      column: column - value.length,
      typed: value,
      siblings: [],
    };
  }
  if (/[\s:]/.test(content)) return undefined;
  return {
    ...shared,
    path,
    place: 'key',
    column: start,
    typed: content,
    siblings: siblingsOf(lines, around.at, start),
  };
};
