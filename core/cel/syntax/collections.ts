import type { Expr, MapEntry, StructField } from './ast.ts';
import { list, map, struct } from './build.ts';
import type { TokenStream } from './token-stream.ts';
import type { Token } from './tokens.ts';

/** What literals of lists, maps and messages need of the parser around them. */
export interface ExpressionParser {
  readonly expr: () => Expr;
  /** The first expression of a construct, in whose place other symbols could stand. */
  readonly first: (closers: readonly string[], also: readonly string[]) => Expr;
  readonly report: (offset: number, message: string) => void;
  readonly optionalSyntax: boolean;
}

/** Parses what stands between brackets and braces. */
export class CollectionParser implements ExpressionParser {
  readonly tokens: TokenStream;
  readonly expr: ExpressionParser['expr'];
  readonly first: ExpressionParser['first'];
  readonly report: ExpressionParser['report'];
  readonly optionalSyntax: boolean;

  constructor(tokens: TokenStream, around: ExpressionParser) {
    this.tokens = tokens;
    this.expr = around.expr;
    this.first = around.first;
    this.report = around.report;
    this.optionalSyntax = around.optionalSyntax;
  }

  message(prefix: string): Expr {
    let name = prefix + this.tokens.advance().text;
    while (this.tokens.accept('.') !== undefined) name += `.${this.tokens.advance().text}`;
    const open = this.tokens.advance();
    const fields: StructField[] = [];
    let isClosed = this.tokens.accept(',') !== undefined;
    while (!isClosed && !this.tokens.isSymbol('}')) {
      const optional = this.tokens.accept('?') !== undefined;
      const { offset, kind, text } = this.tokens.current;
      if (kind === 'escaped-identifier') this.report(offset, "unsupported syntax: '`'");
      else if (!this.tokens.isIdentifier())
        this.tokens.fail(
          `mismatched input '${text}' expecting ${fields.length === 0 ? "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}" : "'}'"}`,
        );
      this.tokens.advance();
      const colon = this.tokens.expect(':');
      const value = this.tokens.within([',', '}'], () => this.expr());
      fields.push({ offset: colon.offset, name: text, value, optional });
      isClosed = this.#endOfEntry('}');
    }
    this.tokens.expect('}');
    return struct(open.offset, name, fields);
  }

  /** Reads the comma behind an element; true if no element follows. */
  #endOfEntry(closer: ']' | '}'): boolean {
    this.tokens.expectOneOf([closer, ',']);
    if (this.tokens.accept(',') === undefined) return true;
    return (
      !this.tokens.isOperandStart() &&
      !this.tokens.isSymbol('?') &&
      this.tokens.current.kind !== 'escaped-identifier'
    );
  }

  #optionalMark(): boolean {
    const question = this.tokens.accept('?');
    if (question !== undefined && !this.optionalSyntax)
      this.report(question.offset, "unsupported syntax '?'");
    return question !== undefined;
  }

  list(open: Token): Expr {
    const elements: { value: Expr; optional: boolean }[] = [];
    let isClosed = this.tokens.accept(',') !== undefined;
    while (!isClosed && !this.tokens.isSymbol(']')) {
      const optional = this.#optionalMark();
      const value =
        elements.length === 0 && !optional
          ? this.first([',', ']'], [']', ',', '?'])
          : this.tokens.within([',', ']'], () => this.expr());
      elements.push({ value, optional });
      isClosed = this.#endOfEntry(']');
    }
    this.tokens.expect(']');
    return list(open.offset, elements);
  }

  map(open: Token): Expr {
    const entries: MapEntry[] = [];
    let isClosed = this.tokens.accept(',') !== undefined;
    while (!isClosed && !this.tokens.isSymbol('}')) {
      const optional = this.#optionalMark();
      const key =
        entries.length === 0 && !optional
          ? this.first([':'], ['}', ',', '?'])
          : this.tokens.within([':'], () => this.expr());
      const colon = this.tokens.expect(':');
      const value = this.tokens.within([',', '}'], () => this.expr());
      entries.push({ offset: colon.offset, key, value, optional });
      isClosed = this.#endOfEntry('}');
    }
    this.tokens.expect('}');
    return map(open.offset, entries);
  }
}
