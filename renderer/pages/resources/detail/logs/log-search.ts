import { logLevels, type LogLevel } from './log-format.ts';
import type { LogLine } from './log-lines.ts';

export interface LogSearch {
  /** Lines to show, in order. */
  readonly shown: readonly LogLine[];
  /** Places among the shown lines that match. */
  readonly hits: readonly number[];
}

/**
 * Finds without hiding: a line means little without those around it. Lines below `levelMin` are left out; a line
 * without a level stays, as it may continue the one before. With `onlyHits` the rest is hidden, too.
 */
export const searchLines = (
  lines: readonly LogLine[],
  query: string,
  options: { readonly levelMin: LogLevel | undefined; readonly onlyHits: boolean },
): LogSearch => {
  const wanted = query.trim().toLowerCase();
  const threshold = options.levelMin === undefined ? 0 : logLevels.indexOf(options.levelMin);
  const atLevel =
    threshold === 0
      ? lines
      : lines.filter(({ level }) => level === undefined || logLevels.indexOf(level) >= threshold);
  if (wanted === '') return { shown: atLevel, hits: [] };
  const matches = (line: LogLine): boolean => line.text.toLowerCase().includes(wanted);
  if (options.onlyHits) {
    const shown = atLevel.filter(matches);
    return { shown, hits: shown.map((_, index) => index) };
  }
  return { shown: atLevel, hits: atLevel.flatMap((line, index) => (matches(line) ? [index] : [])) };
};

/** The text in pieces, those that match marked. */
export const highlight = (
  text: string,
  query: string,
): { readonly text: string; readonly isHit: boolean }[] => {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return [{ text, isHit: false }];
  const hay = text.toLowerCase();
  const parts: { text: string; isHit: boolean }[] = [];
  let from = 0;
  for (let at = hay.indexOf(wanted); at >= 0; at = hay.indexOf(wanted, from)) {
    if (at > from) parts.push({ text: text.slice(from, at), isHit: false });
    from = at + wanted.length;
    parts.push({ text: text.slice(at, from), isHit: true });
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHit: false });
  return parts;
};
