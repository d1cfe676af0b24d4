export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Lines around a change that are shown with it. */
const CONTEXT_LINES = 2;

/** In each change the old lines come before the new ones, as every diff has them. */
const oldFirst = (lines: readonly DiffLine[]): DiffLine[] => {
  const ordered: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind === 'added') added.push(line);
    else if (line.kind === 'removed') ordered.push(line);
    else {
      ordered.push(...added, line);
      added = [];
    }
  }
  return [...ordered, ...added];
};

/** The changed lines of two texts that differ in a few of them, each with the lines around it. */
export const lineDiff = (before: string, after: string): DiffLine[] => {
  const a = before.split('\n');
  const b = after.split('\n');
  const inB = new Set(b);
  const inA = new Set(a);
  const lines: DiffLine[] = [];
  let at = 0;
  for (const text of a) {
    while (at < b.length && b[at] !== text && !inA.has(b[at]!)) lines.push({ kind: 'added', text: b[at++]! });
    if (inB.has(text) && b[at] === text) {
      lines.push({ kind: 'same', text });
      at += 1;
    } else lines.push({ kind: 'removed', text });
  }
  for (; at < b.length; at += 1) lines.push({ kind: 'added', text: b[at]! });
  const ordered = oldFirst(lines);
  return ordered.filter((line, index) => {
    const around = ordered.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
    return line.kind !== 'same' || around.some(({ kind }) => kind !== 'same');
  });
};
