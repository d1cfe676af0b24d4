import { ISSUES_MAX, SNIPPET_BYTES_MAX } from '../bounds.ts';
import type { Location, SourceText } from './text.ts';

/** One reason why an expression was not accepted. */
export interface Issue {
  readonly location: Location;
  readonly message: string;
}

const isWide = (character: string): boolean => character.codePointAt(0)! > 0x7f;

const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0)!;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
};

/** As cel-go prints it: position and message, then the source line with a caret below the place. */
const formatIssue = (issue: Issue, source: SourceText): string => {
  const { line, column } = issue.location;
  const head = `ERROR: ${source.description}:${line}:${column + 1}: ${issue.message}`;
  const text = source.lineText(line);
  if (text === undefined || (text.length > SNIPPET_BYTES_MAX / 4 && utf8Length(text) > SNIPPET_BYTES_MAX))
    return head;
  const shown = text.replaceAll('\t', ' ');
  let marker = '';
  let at = 0;
  let under: string | undefined;
  for (const character of shown) {
    if (at === column) {
      under = character;
      break;
    }
    marker += isWide(character) ? '．' : '.';
    at++;
  }
  marker += under !== undefined && isWide(under) ? '＾' : '^';
  return `${head}\n | ${shown}\n | ${marker}`;
};

/** The issues of one text, collected up to a limit; the rest is only counted. */
export class Issues {
  readonly #list: Issue[] = [];
  #count = 0;

  readonly source: SourceText;

  constructor(source: SourceText) {
    this.source = source;
  }

  get count(): number {
    return this.#count;
  }

  report(location: Location, message: string): void {
    this.#count++;
    if (this.#count <= ISSUES_MAX) this.#list.push({ location, message });
  }

  reportAt(offset: number, message: string): void {
    // Finding the place of an issue takes time that those which are only counted must not cost.
    if (this.#count < ISSUES_MAX) this.report(this.source.locate(offset), message);
    else this.#count++;
  }

  list(): readonly Issue[] {
    return [...this.#list].sort(
      (a, b) => a.location.line - b.location.line || a.location.column - b.location.column,
    );
  }

  format(): string {
    const lines = this.list().map((issue) => formatIssue(issue, this.source));
    if (this.#count > ISSUES_MAX) lines.push(`${this.#count - ISSUES_MAX} more errors were truncated`);
    return lines.join('\n');
  }
}
