const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell reads it back. */
export const quoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

export const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ');
