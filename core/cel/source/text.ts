/** Where something stands in an expression: line from 1, column from 0 in code points, as cel-go counts them. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** A place outside the text, for errors that concern all of it. */
export const NO_LOCATION: Location = { line: -1, column: -1 };

/** Code points of a text: what CEL counts as its size. */
export const codePointCount = (text: string): number => {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(at + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--;
        at++;
      }
    }
  }
  return count;
};

/** An expression and the places in it; offsets are indices into the JavaScript string. */
export class SourceText {
  readonly #lineStarts: number[] = [0];

  readonly text: string;
  readonly description: string;

  constructor(text: string, description: string = '<input>') {
    this.text = text;
    this.description = description;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  locate(offset: number): Location {
    if (offset < 0) return NO_LOCATION;
    let line = 1;
    while (line < this.#lineStarts.length && this.#lineStarts[line]! <= offset) line++;
    const start = this.#lineStarts[line - 1]!;
    return { line, column: codePointCount(this.text.slice(start, offset)) };
  }

  lineText(line: number): string | undefined {
    if (this.text.length === 0) return undefined;
    const start = this.#lineStarts[line - 1];
    if (start === undefined) return undefined;
    const end = this.#lineStarts[line];
    return this.text.slice(start, end === undefined ? this.text.length : end - 1);
  }
}
