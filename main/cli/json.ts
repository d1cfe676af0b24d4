import { inEnglish, isSentenceCode, type Said } from '../../core/contract/index.ts';

const isSaid = (value: unknown): value is Said =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === 2 &&
  'values' in value &&
  'code' in value &&
  typeof value.code === 'string' &&
  isSentenceCode(value.code);

/** Output of `-o json`: sentences are English text, for scripts. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (isSaid(part) ? inEnglish(part) : part));
