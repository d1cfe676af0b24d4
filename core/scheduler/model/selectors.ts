import {
  selectorFromObject,
  type LabelSelector,
  type LabelSelectorObject,
} from '../../api/selector/index.ts';

/** Selectors compiled and kept; pods of one workload bring the same text again and again. */
const SELECTORS_MAX = 4096;
const compiled = new Map<string, LabelSelector>();

export const compiledSelector = (selector: LabelSelectorObject | undefined): LabelSelector => {
  const text = JSON.stringify(selector ?? null);
  const known = compiled.get(text);
  if (known) return known;
  const made = selectorFromObject(selector);
  if (compiled.size >= SELECTORS_MAX) compiled.clear();
  compiled.set(text, made);
  return made;
};
