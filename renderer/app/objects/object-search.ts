import type { FoundObject, KubeResource } from '../../../core/contract/index.ts';
import type { TextPart } from '../../composables/fuzzy-match.ts';

/** An object with what it is searched by, in lower case once and for all. */
export interface IndexedObject {
  readonly object: FoundObject;
  readonly resource: KubeResource;
  readonly name: string;
  /** Kind, plural and short names, each between spaces. */
  readonly kinds: string;
  readonly namespace: string;
  readonly labels: string;
}

export const indexed = (object: FoundObject, resource: KubeResource): IndexedObject => ({
  object,
  resource,
  name: object.name.toLowerCase(),
  kinds: ` ${[resource.kind, resource.plural, ...resource.shortNames].join(' ').toLowerCase()} `,
  namespace: object.namespace.toLowerCase(),
  labels: object.labels.toLowerCase(),
});

const SCORES = {
  name: 100,
  start: 60,
  word: 40,
  part: 30,
  kind: 50,
  kindStart: 20,
  address: 90,
  label: 15,
  namespace: 10,
};
const isBoundary = (text: string, at: number): boolean => at === 0 || /[-./:]/.test(text[at - 1] ?? '');

/** The best thing that a word says about an object; zero when it says nothing. */
const scoreOf = (word: string, { name, kinds, namespace, labels, object }: IndexedObject): number => {
  let best = 0;
  const at = name.indexOf(word);
  if (at >= 0)
    best =
      name.length === word.length
        ? SCORES.name
        : at === 0
          ? SCORES.start
          : isBoundary(name, at)
            ? SCORES.word
            : SCORES.part;
  if (kinds.includes(` ${word} `)) best = Math.max(best, SCORES.kind);
  else if (kinds.includes(` ${word}`)) best = Math.max(best, SCORES.kindStart);
  for (const address of object.addresses)
    if (address === word) best = Math.max(best, SCORES.address);
    else if (address.startsWith(word)) best = Math.max(best, SCORES.label);
  if (best < SCORES.label && labels.includes(word)) best = SCORES.label;
  if (best < SCORES.namespace && namespace.startsWith(word)) best = SCORES.namespace;
  return best;
};

export interface FoundResult {
  readonly found: IndexedObject;
  readonly parts: readonly TextPart[];
}

const partsOf = (name: string, words: readonly string[]): readonly TextPart[] => {
  const lower = name.toLowerCase();
  const word = words.find((each) => lower.includes(each));
  if (word === undefined) return [{ text: name, matched: false }];
  const at = lower.indexOf(word);
  return [
    { text: name.slice(0, at), matched: false },
    { text: name.slice(at, at + word.length), matched: true },
    { text: name.slice(at + word.length), matched: false },
  ].filter(({ text }) => text !== '');
};

/**
 * The objects that every word of the query speaks of, best first: `pod web`, `10.0.0.9`, `app=web`. One pass, and
 * only the best are kept in order, so that ten thousand objects are searched between two key presses.
 */
export const searchObjects = (
  objects: Iterable<IndexedObject>,
  query: string,
  resultsMax: number,
): readonly FoundResult[] => {
  const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const best: { readonly found: IndexedObject; readonly score: number }[] = [];
  const isBefore = (a: (typeof best)[number], b: (typeof best)[number]): boolean =>
    a.score > b.score ||
    (a.score === b.score &&
      (a.found.name.length < b.found.name.length ||
        (a.found.name.length === b.found.name.length && a.found.name < b.found.name)));
  for (const found of objects) {
    let score = 0;
    for (const word of words) {
      const part = scoreOf(word, found);
      if (part === 0) {
        score = 0;
        break;
      }
      score += part;
    }
    if (score === 0) continue;
    const entry = { found, score };
    const last = best[resultsMax - 1];
    if (last && !isBefore(entry, last)) continue;
    let at = best.length;
    while (at > 0 && isBefore(entry, best[at - 1]!)) at -= 1;
    best.splice(at, 0, entry);
    if (best.length > resultsMax) best.pop();
  }
  return best.map(({ found }) => ({ found, parts: partsOf(found.object.name, words) }));
};
