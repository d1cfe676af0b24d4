import { fuzzyMatch, WHOLE_SCORE_MIN, type TextPart } from '../composables/fuzzy-match.ts';
import type { PaletteEntry } from '../pages/page.ts';

export const PALETTE_RESULTS_PER_GROUP_MAX = 8;

export interface PaletteResult {
  readonly entry: PaletteEntry;
  readonly parts: readonly TextPart[];
}

export interface PaletteGroup {
  readonly group: PaletteEntry['group'];
  /** Its best entry shows the query as it was typed, not as letters here and there. */
  readonly isCertain: boolean;
  readonly results: readonly PaletteResult[];
}

const groupOrder: readonly PaletteEntry['group'][] = ['places', 'actions', 'objects', 'found'];

/** Entries that fit the query, best first within their group; the group with the best entry comes first. */
export const paletteResults = (entries: readonly PaletteEntry[], query: string): PaletteGroup[] => {
  const scored = entries.flatMap((entry) => {
    const match = fuzzyMatch(query, entry.title);
    if (match) return [{ entry, ...match }];
    // Found by a word that is not shown: listed, after all that show why they are. Letters here and there in words that
    // no one sees would look like chance.
    const hidden = entry.keywords === undefined ? undefined : fuzzyMatch(query, entry.keywords);
    return hidden && hidden.score >= WHOLE_SCORE_MIN
      ? [{ entry, score: hidden.score - 2000, parts: [{ text: entry.title, matched: false }] }]
      : [];
  });
  return groupOrder
    .map((group) => {
      const found = scored.filter((one) => one.entry.group === group).sort((a, b) => b.score - a.score);
      return {
        group,
        best: found[0]?.score ?? -Infinity,
        results: found.slice(0, PALETTE_RESULTS_PER_GROUP_MAX),
      };
    })
    .filter((one) => one.results.length > 0)
    .sort((a, b) => b.best - a.best)
    .map(({ group, best, results }) => ({
      group,
      isCertain: best >= WHOLE_SCORE_MIN,
      results: results.map(({ entry, parts }) => ({ entry, parts })),
    }));
};
