const [SPACE, DASH, QUESTION, NEWLINE, RETURN] = [0x20, 0x2d, 0x3f, 0x0a, 0x0d];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * How deep a YAML text nests, found without parsing it: the parser recurses, and an end of the
 * stack inside of a regular expression ends the whole process. Brackets count wherever they stand, so texts with
 * many unbalanced ones are taken for deeper than they are; a list that stands as far left as its own key is not seen, so
 * the truth may be up to twice as deep.
 */
export const yamlDepthOf = (text: string): number => {
  /** Columns at which the blocks around the current line began. */
  const columns: number[] = [];
  let brackets = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const from = at;
    for (let code = text.charCodeAt(at); at < text.length; code = text.charCodeAt((at += 1))) {
      if (code === DASH || code === QUESTION) enter(columns, at - from);
      else if (code !== SPACE) break;
    }
    const first = text.charCodeAt(at);
    if (at < text.length && first !== NEWLINE && first !== RETURN) enter(columns, at - from);
    for (
      let code = text.charCodeAt(at);
      at < text.length && code !== NEWLINE;
      code = text.charCodeAt((at += 1))
    ) {
      if (OPENING.has(code)) brackets += 1;
      else if (CLOSING.has(code) && brackets > 0) brackets -= 1;
      if (brackets + columns.length > deepest) deepest = brackets + columns.length;
    }
    if (brackets + columns.length > deepest) deepest = brackets + columns.length;
  }
  return deepest;
};

/** Blocks that began further right are over. */
const enter = (columns: number[], column: number): void => {
  while (columns.length > 0 && columns.at(-1)! >= column) columns.pop();
  columns.push(column);
};
