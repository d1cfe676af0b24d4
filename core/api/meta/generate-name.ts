import type { Random } from '../../base/random.ts';

/** No vowels and no digits that look like one: a suffix never spells a word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const NAME_LENGTH_MAX = 63;

export const randomSuffix = (random: Random, length: number = SUFFIX_LENGTH): string =>
  Array.from({ length }, () => ALPHABET[random.below(ALPHABET.length)]).join('');

/** What `metadata.generateName` becomes: the base cut to leave room, and five random letters. */
export const generateName = (base: string, random: Random): string =>
  base.slice(0, NAME_LENGTH_MAX - SUFFIX_LENGTH) + randomSuffix(random);

/** Maps any text onto the letters of `randomSuffix`, so that hashes in names look like the rest. */
export const safeEncode = (text: string): string =>
  Array.from(text, (letter) => ALPHABET[letter.codePointAt(0)! % ALPHABET.length]).join('');
