export interface TextPart {
  readonly text: string;
  readonly matched: boolean;
}

export interface FuzzyMatch {
  /** Higher is better; only to be compared with scores of the same query. */
  readonly score: number;
  readonly parts: readonly TextPart[];
}

/** From here on the query was found as a whole. Long texts score a little less than the base of a whole match. */
export const WHOLE_SCORE_MIN = 500;

const isBoundary = (text: string, index: number): boolean =>
  index === 0 ||
  /[\s\-_/.:]/.test(text[index - 1] ?? '') ||
  /[a-z][A-Z]/.test(text.slice(index - 1, index + 1));

const partsOf = (text: string, positions: ReadonlySet<number>): TextPart[] => {
  const parts: { text: string; matched: boolean }[] = [];
  [...text].forEach((char, index) => {
    const matched = positions.has(index);
    const last = parts.at(-1);
    if (last?.matched === matched) last.text += char;
    else parts.push({ text: char, matched });
  });
  return parts;
};

const range = (from: number, length: number): Set<number> =>
  new Set(Array.from({ length }, (_, offset) => from + offset));

/**
 * Whether `query` is found in `text`: as a whole (best at the start of a word), or as letters in order,
 * where runs and starts of words count more. Undefined when it is not.
 */
export const fuzzyMatch = (query: string, text: string): FuzzyMatch | undefined => {
  const needle = query.trim().toLowerCase();
  if (needle === '') return { score: 0, parts: [{ text, matched: false }] };
  const hay = text.toLowerCase();

  let whole = hay.indexOf(needle);
  for (let at = whole; at !== -1; at = hay.indexOf(needle, at + 1))
    if (isBoundary(text, at)) {
      whole = at;
      break;
    }
  if (whole !== -1) {
    const score = 1000 + (isBoundary(text, whole) ? 500 : 0) - whole - text.length / 100;
    return { score, parts: partsOf(text, range(whole, needle.length)) };
  }

  const positions = new Set<number>();
  let from = 0;
  let score = 0;
  for (const char of needle) {
    if (char === ' ') continue;
    const at = hay.indexOf(char, from);
    if (at === -1) return undefined;
    score += isBoundary(text, at) ? 8 : at === from && from > 0 ? 4 : 1;
    positions.add(at);
    from = at + 1;
  }
  return { score: score - text.length / 100, parts: partsOf(text, positions) };
};
