/**
 * Reads Prometheus' text format 0.0.4. One pass, no object a line: an API server exposes thousands of lines of which a
 * few hundred are wanted.
 */

const NEWLINE = '\n';
const HASH = 0x23;
const BRACE = 0x7b;
const SPACE = 0x20;
const TAB = 0x09;

/** `labels` is the text between the braces; ask it with `labelOf`. */
export type Visit<T> = (what: T, labels: string, value: number) => void;

const nameEnd = (text: string, from: number, to: number): number => {
  let at = from;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code === BRACE || code === SPACE || code === TAB) return at;
    at += 1;
  }
  return at;
};

const parseValue = (text: string): number => {
  // A time stamp may follow.
  const end = text.indexOf(' ');
  const word = end < 0 ? text : text.slice(0, end);
  if (word === '+Inf') return Infinity;
  if (word === '-Inf') return -Infinity;
  return word === '' ? NaN : Number(word);
};

/**
 * Visits the samples whose name `wanted` knows, in order. Lines that make no sense are passed over: one bad line of a
 * server is no reason to lose the rest.
 */
export const scanMetrics = <T>(text: string, wanted: ReadonlyMap<string, T>, visit: Visit<T>): void => {
  let lastName = '';
  let lastWanted: T | undefined;
  for (let from = 0; from < text.length;) {
    let to = text.indexOf(NEWLINE, from);
    if (to < 0) to = text.length;
    if (to > from && text.charCodeAt(from) !== HASH) {
      const end = nameEnd(text, from, to);
      // Samples of one name stand together.
      if (end - from !== lastName.length || !text.startsWith(lastName, from)) {
        lastName = text.slice(from, end);
        lastWanted = wanted.get(lastName);
      }
      if (lastWanted !== undefined) {
        // Neither value nor time stamp has a brace, so the last one closes the labels.
        const close = text.charCodeAt(end) === BRACE ? text.lastIndexOf('}', to) : -1;
        const labels = close > end ? text.slice(end + 1, close) : '';
        const value = parseValue(text.slice(close > end ? close + 1 : end, to).trim());
        if (!Number.isNaN(value)) visit(lastWanted, labels, value);
      }
    }
    from = to + 1;
  }
};

const ESCAPES = /\\([\\"n])/g;

/** The value of one label; empty when it is not there, which Prometheus holds to be the same. */
export const labelOf = (labels: string, name: string): string => {
  const head = `${name}="`;
  // Within a value a quote is escaped, so a match that begins at a comma or the start is a label.
  for (let at = labels.indexOf(head); at >= 0; at = labels.indexOf(head, at + 1)) {
    if (at > 0 && labels[at - 1] !== ',' && labels[at - 1] !== ' ') continue;
    const from = at + head.length;
    let to = from;
    while (to < labels.length && labels[to] !== '"') to += labels[to] === '\\' ? 2 : 1;
    const value = labels.slice(from, to);
    return value.includes('\\')
      ? value.replaceAll(ESCAPES, (_all, escaped: string) => (escaped === 'n' ? '\n' : escaped))
      : value;
  }
  return '';
};
