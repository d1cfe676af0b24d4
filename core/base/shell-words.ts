const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell reads it back. */
export const quoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

export const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ');

/** A line for a shell whose values are quoted where they need it, whatever they hold; an array is several words. */
export const shell = (
  parts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string =>
  parts.reduce((line, part, index) => {
    const value = values[index - 1];
    const words = typeof value === 'object' ? value : [String(value)];
    return `${line}${words.map(quoted).join(' ')}${part}`;
  });
