import type { TableRow } from '../../core/contract/index.ts';

/**
 * Words that must all be found: `app=web` in a label, `!word` nowhere, anything else in the name, the namespace
 * or a cell. Answers undefined when there is nothing to ask.
 */
export const rowFilter = (query: string): ((row: TableRow) => boolean) | undefined => {
  const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return undefined;
  const tests = words.map(testOf);
  return (row) => tests.every((test) => test(row));
};

const testOf = (word: string): ((row: TableRow) => boolean) => {
  if (word.length > 1 && word.startsWith('!')) {
    const test = testOf(word.slice(1));
    return (row) => !test(row);
  }
  const at = word.indexOf('=');
  if (at > 0) {
    const key = word.slice(0, at);
    const value = word.slice(at + 1).replace(/^=/, '');
    return ({ labels }) =>
      Object.entries(labels).some(
        ([name, held]) => name.toLowerCase() === key && held.toLowerCase().startsWith(value),
      );
  }
  return (row) =>
    row.name.toLowerCase().includes(word) ||
    row.namespace.toLowerCase().includes(word) ||
    row.cells.some((cell) => typeof cell === 'string' && cell.toLowerCase().includes(word));
};
